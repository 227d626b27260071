// SPDX-License-Identifier: Apache-2.0
#include "diffbench/build_stamp.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>
#include <vector>

namespace diffbench {

namespace {

// G. Fowler, L. C. Noll, K.-P. Vo, 1991; draft-eastlake-fnv.
std::string hash_of_program() {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325u;
  std::vector<char> block(1 << 16);
  bool is_empty = true;
  while (program.read(block.data(), std::ssize(block)) || program.gcount() > 0) {
    is_empty = false;
    for (std::streamsize i = 0; i < program.gcount(); ++i) {
      hash =
          (hash ^ static_cast<unsigned char>(block[static_cast<std::size_t>(i)])) * 0x100000001b3u;
    }
  }
  if (is_empty || program.bad()) {
    return "unknown";
  }
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << hash;
  return text.str();
}

} // namespace

std::string build_stamp() {
  struct stat file {};
  if (stat("/proc/self/exe", &file) != 0) {
    return "unknown";
  }
  std::ostringstream stamp;
  stamp << file.st_size << '-' << file.st_mtim.tv_sec << '-' << file.st_mtim.tv_nsec;
  return stamp.str();
}

const std::string& build_identity() {
  static const std::string identity = hash_of_program();
  return identity;
}

} // namespace diffbench
