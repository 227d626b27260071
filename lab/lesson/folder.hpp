// SPDX-License-Identifier: Apache-2.0
// The folder of a lesson keeps what is finished, so that a lesson that ended early goes on there:
//
// - 1-ladder.json: the result of a finished step; 1-ladder.part.json: that of an unfinished one
// - guesses.txt: question and guess
// - sheet.csv: a line for each question, unless --sheet names another file
// - lesson.json: the lesson as it went; page.html: the same, with the results as pictures
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace diffbench::bench::lesson {

class Folder {
 public:
  /// Makes it where it is not there. Of `steps` the names. Throws Error unless the folder and the
  /// sheet (empty: in the folder) can be written, and InvalidInput for a sheet in the place of
  /// another file.
  Folder(std::filesystem::path path, std::string sheet, const std::vector<std::string>& steps);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::string& sheet() const { return sheet_; }
  [[nodiscard]] std::filesystem::path guesses() const { return path_ / "guesses.txt"; }
  [[nodiscard]] std::filesystem::path course() const { return path_ / "lesson.json"; }
  [[nodiscard]] std::filesystem::path page() const { return path_ / "page.html"; }
  /// Of the steps, from 0; there only when it is finished.
  [[nodiscard]] const std::filesystem::path& result(std::size_t step) const {
    return results_[step];
  }
  [[nodiscard]] const std::vector<std::filesystem::path>& results() const { return results_; }
  /// Where the step's command writes.
  [[nodiscard]] std::filesystem::path part(std::size_t step) const;
  [[nodiscard]] bool finished(std::size_t step) const;
  /// The part becomes the result. Throws Error.
  void finish(std::size_t step) const;

  /// The result, made by `command` ("diffbench --grid 640") with --json. Throws InvalidInput where
  /// the file is something else.
  [[nodiscard]] nlohmann::ordered_json read(std::size_t step, const std::string& command) const;

 private:
  std::filesystem::path path_;
  std::string sheet_;
  std::vector<std::filesystem::path> results_;
};

} // namespace diffbench::bench::lesson
