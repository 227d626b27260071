// SPDX-License-Identifier: Apache-2.0
// Loads the module that is named, and says why it cannot.
//
//   load_module_test NAME
#include "diffbench/cluster/module.hpp"

#include <cstdio>
#include <exception>

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s NAME\n", arguments[0]);
    return 2;
  }
  try {
    static_cast<void>(diffbench::cluster::load_module(arguments[1]));
    std::puts("loaded");
    return 0;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
}
