// SPDX-License-Identifier: Apache-2.0
// Loads the module mpi, and says why it cannot.
#include "diffbench/cluster/module.hpp"

#include <cstdio>
#include <exception>

int main() {
  try {
    static_cast<void>(diffbench::cluster::load_module());
    std::puts("loaded");
    return 0;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
}
