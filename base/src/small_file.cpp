// SPDX-License-Identifier: Apache-2.0
#include "diffbench/small_file.hpp"

#include "diffbench/errors.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>

namespace diffbench {

std::string text_of_small_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InvalidInput("is not a regular file");
  }
  if (std::filesystem::file_size(path, error) > most_bytes && !error) {
    throw InvalidInput("is larger than 1 MiB");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (error || !file) {
    throw InvalidInput("cannot be read; check its permissions");
  }
  return text;
}

} // namespace diffbench
