// SPDX-License-Identifier: Apache-2.0
// Prints what tells this program's build from others: its stamp, and its identity.
#include "diffbench/build_stamp.hpp"

#include <cstdio>

int main() {
  std::printf("%s\n%s\n", diffbench::build_stamp().c_str(), diffbench::build_identity().c_str());
}
