// SPDX-License-Identifier: Apache-2.0
#include "grade_state.hpp"

#include "diffbench/errors.hpp"
#include "json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace diffbench::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* state_member = "diffbench_grade";
constexpr int state_schema = 1;
constexpr const char* resume_option = "--resume";

} // namespace

GradeState::GradeState(const std::filesystem::path& path) {
  file_.emplace(resume_option, path, LineFile::Sharing::refuses);
  bool is_state = true;
  for (const std::string& line : file_->lines()) {
    try {
      const Json json = Json::parse(line);
      if (json.at(state_member) == state_schema) {
        known_[json.at("digest")] = graded_of(json.at("graded"));
      }
    } catch (const Json::exception&) {
      is_state = is_state && line.starts_with("{\"diffbench_grade"); // it was cut off
    } catch (const InvalidInput&) {                                  // a word of another version
      continue;
    }
  }
  if (!is_state && known_.empty()) {
    throw InvalidInput(
        fmt::format("{} {}: was not written by diffbench try", resume_option, path.string()));
  }
}

const Graded* GradeState::find(const std::string& digest) const {
  const auto found = known_.find(digest);
  return found == known_.end() ? nullptr : &found->second;
}

void GradeState::keep(const std::string& digest, const Graded& graded) {
  if (file_) {
    const Json line = {
        {state_member, state_schema}, {"digest", digest}, {"graded", json_of(graded_json(graded))}};
    file_->append(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
}

} // namespace diffbench::bench
