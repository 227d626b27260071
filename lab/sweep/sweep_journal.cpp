// SPDX-License-Identifier: Apache-2.0
#include "sweep_journal.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

/// The first thing in which two headers differ, in words; empty when they are the same.
std::string difference(const ordered_json& there, const ordered_json& here) {
  std::set<std::string> parts;
  for (const auto& [part, values] : here.items()) {
    const ordered_json& others = there.value(part, ordered_json::object());
    std::set<std::string> names;
    for (const ordered_json* object : {&others, &values}) {
      for (const auto& [name, value] : object->items()) {
        names.insert(name);
      }
    }
    for (const std::string& name : names) {
      const ordered_json mine = values.value(name, ordered_json());
      const ordered_json other = others.value(name, ordered_json());
      if (mine != other) {
        auto text = [](const ordered_json& value) {
          return value.is_null() ? std::string("nothing") : value.dump();
        };
        return fmt::format("{} is {} there and {} here", name, text(other), text(mine));
      }
    }
  }
  return "";
}

std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

[[noreturn]] void refuse_line(const std::filesystem::path& path, std::size_t number,
                              const char* what) {
  throw InvalidInput(fmt::format("{}: line {} {}", path.string(), number, what));
}

} // namespace

std::vector<SweepPoint> sweep_points(const std::filesystem::path& path,
                                     std::span<const ordered_json> lines) {
  std::vector<SweepPoint> points;
  std::set<std::vector<std::string>> seen;
  std::size_t number = 1;
  for (const ordered_json& line : lines) {
    ++number;
    try {
      points.push_back({.values = line.at("values").get<std::vector<std::string>>(),
                        .seconds = line.at("seconds").get<double>(),
                        .result = line.at("result")});
    } catch (const ordered_json::exception&) {
      refuse_line(path, number, "is not of a sweep");
    }
    if (!seen.insert(points.back().values).second) {
      refuse_line(path, number, "is there twice");
    }
  }
  return points;
}

SweepJournal::SweepJournal(std::filesystem::path path, const ordered_json& header, bool resume)
    : path_(std::move(path)) {
  std::error_code ignored;
  if (resume && !std::filesystem::exists(path_, ignored)) {
    throw InvalidInput(fmt::format("--resume: there is no {}; leave --resume out to begin a sweep",
                                   path_.string()));
  }
  file_.emplace("--out", path_, LineFile::Sharing::refuses);
  std::vector<std::string> texts = file_->lines();
  if (!resume && !texts.empty()) {
    throw InvalidInput(
        fmt::format("--out {}: the file exists already; give --resume to continue its sweep, "
                    "or another name",
                    path_.string()));
  }
  const bool cut_off = file_->ends_within_a_line();
  const std::string rest = cut_off ? texts.back() : "";
  texts.resize(texts.size() - (cut_off ? 1 : 0));
  std::vector<ordered_json> lines;
  for (const std::string& text : texts) { // what is no JSON is there as such
    lines.push_back(ordered_json::parse(text, nullptr, false));
  }
  if (!lines.empty()) {
    check_header(lines.front(), header);
    points_ = sweep_points(path_, std::span(lines).subspan(1));
  } else if (!line_of(header).starts_with(rest)) {
    throw InvalidInput(fmt::format("--resume: {} is not of this sweep", path_.string()));
  }
  file_->drop_last(rest.size());
  if (lines.empty()) {
    file_->append(line_of(header));
  }
}

void SweepJournal::append(const SweepPoint& point) {
  file_->append(
      line_of({{"values", point.values}, {"seconds", point.seconds}, {"result", point.result}}));
}

void SweepJournal::check_header(const ordered_json& there, const ordered_json& here) const {
  std::string differs;
  try {
    differs = difference(there, here);
  } catch (const ordered_json::exception&) {
    refuse_line(path_, 1, "is not of a sweep");
  }
  if (!differs.empty()) {
    throw InvalidInput(
        fmt::format("--resume: {} is of another sweep: {}; give the same options, "
                    "or another --out",
                    path_.string(), differs));
  }
}

} // namespace diffbench::bench
