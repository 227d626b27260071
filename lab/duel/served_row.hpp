// SPDX-License-Identifier: Apache-2.0
// A backend in a process of its own, which another one asks for samples. The two speak in lines:
// first the plan, then the digest of the field after the plan's steps, then "sample" and its
// seconds as often as the asking process likes. Its end of the channel being closed ends this one.
#pragma once

#include "diffbench/problem.hpp"

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

namespace diffbench::bench {

/// The only argument of a program that is to serve a row. It is between two processes of one build
/// and no option.
inline constexpr std::string_view serve_row_argument = "--serve-row";

struct ServedRow {
  std::string backend;
  std::int64_t nx = 0, ny = 0, steps = 0;
  Dtype dtype = Dtype::float32;
  int threads = 0; ///< 0: the backend's default
  int device = 0;
  std::uint64_t seed = 0;
};
/// A line without its end, and back. Throws InvalidInput.
[[nodiscard]] std::string line_of(const ServedRow& row);
[[nodiscard]] ServedRow parse_served_row(const std::string& line);

/// Answers until `requests` end; what fails is answered by "error" and its words.
void serve_row(std::istream& requests, std::ostream& answers);

} // namespace diffbench::bench
