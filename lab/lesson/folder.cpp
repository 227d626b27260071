// SPDX-License-Identifier: Apache-2.0
#include "folder.hpp"

#include "diffbench/errors.hpp"
#include "output.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <system_error>
#include <utility>

namespace diffbench::bench::lesson {

namespace fs = std::filesystem;

Folder::Folder(fs::path path, std::string sheet, const std::vector<std::string>& steps)
    : path_(std::move(path)),
      sheet_(sheet.empty() ? (path_ / "sheet.csv").string() : std::move(sheet)) {
  for (const std::string& step : steps) {
    results_.push_back(path_ / fmt::format("{}-{}.json", results_.size() + 1, step));
    refuse_equal_paths({sheet_, results_.back().string()});
  }
  refuse_equal_paths({sheet_, guesses().string(), course().string(), page().string()});
  check_writable_directory("--out", path_);
  std::error_code error;
  const bool made = fs::create_directory(path_, error);
  try {
    check_writable_file("--sheet", sheet_, kind_of_output::csv); // it may be in the folder
    check_writable_file("--out", page(), kind_of_output::page);
    check_writable_file("--out", course(), kind_of_output::json);
    check_writable_file("--out", guesses(), {});
    for (std::size_t step = 0; step < steps.size(); ++step) {
      check_writable_file("--out", results_[step], kind_of_output::json);
      check_writable_file("--out", part(step), kind_of_output::json);
    }
  } catch (const Error&) {
    if (made) {
      fs::remove(path_, error);
    }
    throw;
  }
}

fs::path Folder::part(std::size_t step) const {
  fs::path part = results_[step];
  return part.replace_extension(".part.json");
}

bool Folder::finished(std::size_t step) const {
  std::error_code error;
  return fs::exists(results_[step], error);
}

void Folder::finish(std::size_t step) const {
  std::error_code error;
  fs::rename(part(step), results_[step], error);
  if (error) {
    throw Error(fmt::format("{}: cannot be named {}: {}", part(step).string(),
                            results_[step].string(), error.message()));
  }
}

nlohmann::ordered_json Folder::read(std::size_t step, const std::string& command) const {
  const fs::path& path = results_[step];
  nlohmann::ordered_json file;
  try {
    file = read_result_file(path, Origin::ours, Detail::overview);
  } catch (const InvalidInput& error) {
    throw InvalidInput(
        fmt::format("{} (or delete it: the lesson then measures it again)", error.what()));
  }
  const nlohmann::ordered_json& made_by = member(member(file, "diffbench"), "command");
  if (!made_by.is_string() ||
      !made_by.get_ref<const std::string&>().starts_with(command + " --json ")) {
    throw InvalidInput(fmt::format("{}: was not made by {}; give another --out, or delete the file",
                                   path.string(), command));
  }
  return file;
}

} // namespace diffbench::bench::lesson
