// SPDX-License-Identifier: Apache-2.0
// The sheets of a class: what everybody guessed, and what came out on their own machines.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Whether it is one, or a file of a spreadsheet, in which one may be.
[[nodiscard]] bool may_be_class_sheet(const std::filesystem::path& path);
/// Whether the file begins as a class sheet does, this version's or an older one's.
[[nodiscard]] bool is_class_sheet(const std::filesystem::path& path);

struct ClassSheets {
  std::vector<std::string> names;              ///< "lesson 1, 30 students"
  std::vector<nlohmann::ordered_json> results; ///< of each lesson, as read_result_file() gives it
  std::vector<std::string> left_out;           ///< sheets that could not be read, with the reason
};

/// Of those who took a lesson twice on one host the newest sheet counts, which a note says. Nothing
/// is thrown: what cannot be read is left out.
[[nodiscard]] ClassSheets read_class_sheets(const std::vector<std::filesystem::path>& paths);

} // namespace diffbench::bench
