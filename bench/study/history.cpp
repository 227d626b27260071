// SPDX-License-Identifier: Apache-2.0
#include "history.hpp"

#include "diffbench/errors.hpp"
#include "line_file.hpp"
#include "output.hpp"
#include "result_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* schema_member = "diffbench_history";
constexpr int history_schema = 1;

ordered_json json_of(const HistoryEntry& entry) {
  ordered_json interval;
  if (const auto& known = entry.ratio.interval) {
    interval = {{"low", known->low}, {"high", known->high}, {"confidence", known->confidence}};
  }
  ordered_json work;
  if (const auto& own = entry.row.work) {
    work = {{"nx", own->nx},
            {"ny", own->ny},
            {"iterations", own->iterations},
            {"dtype", to_string(own->dtype)},
            {"threads", own->threads ? ordered_json(*own->threads) : ordered_json()}};
  }
  return {{schema_member, history_schema},
          {"date", entry.date},
          {"host_name", entry.row.host},
          {"cpu_model", entry.row.cpu},
          {"a", entry.row.a},
          {"b", entry.row.b},
          {"label", entry.row.label},
          {"work", std::move(work)},
          {"commits", entry.commits.empty() ? ordered_json() : ordered_json(entry.commits)},
          {"blocks", entry.blocks},
          {"a_seconds", entry.a_seconds},
          {"b_seconds", entry.b_seconds},
          {"ratio", entry.ratio.value},
          {"interval", std::move(interval)},
          {"verdict", entry.verdict},
          {"disturbed", entry.disturbed}};
}

std::optional<StepWork> parsed_work(const ordered_json& json) {
  if (json.is_null()) {
    return std::nullopt;
  }
  const ordered_json& threads = json.at("threads");
  const auto dtype = json.at("dtype").get<std::string>();
  return StepWork{.nx = json.at("nx"),
                  .ny = json.at("ny"),
                  .iterations = json.at("iterations"),
                  .dtype = dtype_names.parse(dtype),
                  .threads = threads.is_null() ? std::nullopt : std::optional(threads.get<int>())};
}

/// Of older lines, too, which have none.
std::vector<std::string> parsed_commits(const ordered_json& json) {
  const auto found = json.find("commits");
  if (found == json.end() || found->is_null()) {
    return {};
  }
  const auto [a, b] = found->get<std::array<std::string, 2>>();
  return {a, b};
}

std::optional<HistoryEntry> entry_of(const std::string& line) {
  try {
    const ordered_json json = ordered_json::parse(line);
    if (json.at(schema_member) != history_schema) {
      return std::nullopt;
    }
    HistoryEntry entry{.row = {.a = json.at("a"),
                               .b = json.at("b"),
                               .label = json.at("label"),
                               .work = parsed_work(json.value("work", ordered_json())),
                               .host = json.at("host_name"),
                               .cpu = json.at("cpu_model")},
                       .commits = parsed_commits(json),
                       .date = json.at("date"),
                       .blocks = json.at("blocks"),
                       .a_seconds = json.at("a_seconds"),
                       .b_seconds = json.at("b_seconds"),
                       .ratio = {.value = json.at("ratio"), .interval = {}},
                       .verdict = json.at("verdict"),
                       .disturbed = json.at("disturbed")};
    if (const ordered_json& interval = json.at("interval"); !interval.is_null()) {
      entry.ratio.interval =
          Interval{interval.at("low"), interval.at("high"), interval.at("confidence")};
    }
    return entry.ratio.value > 0 ? std::optional(std::move(entry)) : std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  } catch (const InvalidInput&) { // a dtype of another version
    return std::nullopt;
  }
}

} // namespace

void check_history(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path == "-" || (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))) {
    throw InvalidInput(fmt::format(
        "--history {}: is no regular file, to which lines could be added", path.string()));
  }
}

void append_history(const std::filesystem::path& path, std::span<const HistoryEntry> entries) {
  std::string lines;
  for (const HistoryEntry& entry : entries) {
    lines += json_of(entry).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }
  LineFile("--history", path, LineFile::Sharing::waits).append(lines);
}

History read_history(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) {
    throw InvalidInput(
        fmt::format("{}: {}; `diffbench duel ... --history FILE` writes one", path.string(),
                    fs::exists(path, ignored) ? "is no regular file" : "there is no such file"));
  }
  History history;
  std::multimap<std::time_t, HistoryEntry> in_time;
  std::time_t instant = 0;
  for (const std::string& line : lines_of_file("history", path)) {
    if (auto entry = entry_of(line)) {
      instant = instant_of(entry->date).value_or(instant);
      in_time.emplace(instant, std::move(*entry));
    } else {
      ++history.cut_off;
    }
  }
  for (auto& [time, entry] : in_time) {
    history.entries.push_back(std::move(entry));
  }
  if (history.entries.empty()) {
    throw InvalidInput(
        fmt::format("{}: has no line of a history; `diffbench duel ... --history FILE` writes them",
                    path.string()));
  }
  return history;
}

} // namespace diffbench::bench
