// SPDX-License-Identifier: Apache-2.0
#include "rubric.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/small_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <system_error>
#include <type_traits>
#include <utility>

namespace diffbench::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* rubric_member = "diffbench_rubric";
constexpr int rubric_schema = 1;
constexpr double most_points = 1e6;

/// A rubric's file as it is read; every message says where in it.
class RubricReader {
 public:
  explicit RubricReader(const std::filesystem::path& path) : path_(path) {}

  [[nodiscard]] Rubric read() const {
    const Json json = parse();
    if (!json.is_object()) {
      refuse("the file", "must be an object with \"criteria\"");
    }
    only_known(json, "", {rubric_member, "not_decided", "criteria"});
    if (!json.contains(rubric_member) || json.at(rubric_member) != rubric_schema) {
      refuse(rubric_member, fmt::format("must be {}", rubric_schema));
    }
    Rubric rubric;
    if (json.contains("not_decided")) {
      rubric.not_decided =
          named("not_decided", text(json, "", "not_decided"),
                [](const std::string& name) { return not_decided_names.parse(name); });
    }
    if (!json.contains("criteria") || !json.at("criteria").is_array() ||
        json.at("criteria").empty()) {
      refuse("criteria", "must be a list of one criterion or more");
    }
    for (const Json& each : json.at("criteria")) {
      const std::string place = fmt::format("criteria[{}]", rubric.criteria.size());
      rubric.criteria.push_back(criterion(each, place));
      refuse_twice(rubric.criteria, place);
    }
    return rubric;
  }

 private:
  [[noreturn]] void refuse(std::string_view where, std::string_view what) const {
    throw InvalidInput(fmt::format("{}: {} {}", path_.string(), where, what));
  }

  [[nodiscard]] Json parse() const {
    try {
      return Json::parse(text_of_small_file(path_));
    } catch (const InvalidInput& error) {
      std::error_code ignored;
      throw InvalidInput(fmt::format(
          "--rubric {}: {}; diffbench try --print-rubric writes one to begin with", path_.string(),
          std::filesystem::exists(path_, ignored) ? error.what() : "there is no such file"));
    } catch (const Json::exception& error) {
      throw InvalidInput(fmt::format("{}: is no JSON: {}", path_.string(), error.what()));
    }
  }

  void only_known(const Json& object, const std::string& place,
                  const std::vector<std::string>& known) const {
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(known, key) == known.end()) {
        refuse(place + key, fmt::format("is not known{}; there {} {}", did_you_mean(key, known),
                                        known.size() == 1 ? "is" : "are", fmt::join(known, ", ")));
      }
    }
  }

  [[nodiscard]] std::string text(const Json& object, const std::string& place,
                                 const char* key) const {
    if (!object.contains(key) || !object.at(key).is_string()) {
      refuse(place + key, "must be a text");
    }
    return object.at(key).get<std::string>();
  }

  [[nodiscard]] double number(const Json& object, const std::string& place, const char* key,
                              bool (*holds)(double), std::string_view limits) const {
    const Json value = object.contains(key) ? object.at(key) : Json();
    if (!value.is_number() || !holds(value.get<double>())) {
      refuse(place + key, fmt::format("must be a number {}", limits));
    }
    return value.get<double>();
  }

  template <typename Parse>
  [[nodiscard]] std::invoke_result_t<Parse, const std::string&> named(const std::string& where,
                                                                      const std::string& name,
                                                                      Parse parse) const {
    try {
      return parse(name);
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("{}: {}: {}", path_.string(), where, error.what()));
    }
  }

  [[nodiscard]] Criterion criterion(const Json& json, const std::string& place) const {
    if (!json.is_object()) {
      refuse(place, "must be an object with \"criterion\" and \"points\"");
    }
    const std::string inside = place + ".";
    Criterion read;
    read.kind = named(inside + "criterion", text(json, inside, "criterion"),
                      [](const std::string& name) { return criterion_names.parse(name); });
    std::vector<std::string> known = {"criterion", "points"};
    if (read.kind == Criterion::Kind::faster_than) {
      known.insert(known.end(), {"row", "factor"});
      const std::vector<std::string> rows = pace_rows();
      read.row = named(inside + "row", text(json, inside, "row"), [&](const std::string& name) {
        return std::ranges::find(rows, name) != rows.end() ? name
                                                           : throw unknown_name("row", name, rows);
      });
      read.factor = json.contains("factor")
                        ? number(
                              json, inside, "factor",
                              [](double factor) { return factor > 0 && factor <= 1e6; },
                              "above 0, up to 1000000")
                        : 1;
    }
    only_known(json, inside, known);
    read.points = number(
        json, inside, "points", [](double points) { return points >= 0 && points <= most_points; },
        "from 0 to 1000000");
    return read;
  }

  /// Only times are asked for again, with another factor.
  void refuse_twice(const std::vector<Criterion>& criteria, const std::string& place) const {
    const Criterion& last = criteria.back();
    const auto same = [&last](const Criterion& other) {
      return other.kind == last.kind && other.row == last.row && other.factor == last.factor;
    };
    if (std::ranges::count_if(criteria, same) > 1) {
      refuse(place, fmt::format("has \"{}\" for the second time", title_of(last)));
    }
  }

  std::filesystem::path path_;
};

/// Kernels that write less of the field leave the work to the host. A kernel that is wrong may
/// leave out edges or the last partial block, which are much of a small field: 3 x 5 of 7 x 5
/// cells.
constexpr double least_kernels_write = 0.25;

/// Of what an emulated device looks at, which only files in CUDA have.
Mark mark_of_device(const Graded& graded, bool holds) {
  if (graded.language != Language::cuda) {
    return Mark::not_judged;
  }
  return graded.kernels_write >= least_kernels_write && holds ? Mark::met : Mark::missed;
}

Mark mark_of_pace(const Graded& graded, const Criterion& criterion) {
  if (!graded.timed) {
    return Mark::not_judged;
  }
  if (!graded.right) {
    return Mark::missed;
  }
  const auto pace = std::ranges::find(graded.paces, criterion.row, &RowPace::row);
  if (pace == graded.paces.end()) {
    return Mark::not_judged;
  }
  const auto& interval = pace->times.interval;
  if (graded.disturbed || !interval) {
    return Mark::undecided;
  }
  return interval->low > criterion.factor    ? Mark::met
         : interval->high < criterion.factor ? Mark::missed
                                             : Mark::undecided;
}

Mark mark_of(const Graded& graded, const Criterion& criterion) {
  switch (criterion.kind) {
    case Criterion::Kind::right: return graded.right ? Mark::met : Mark::missed;
    case Criterion::Kind::no_races: return mark_of_device(graded, graded.races == 0);
    case Criterion::Kind::no_leaks: return mark_of_device(graded, graded.leaks == 0);
    case Criterion::Kind::resident: return mark_of_device(graded, graded.resident);
    case Criterion::Kind::faster_than: return mark_of_pace(graded, criterion);
  }
  return Mark::missed;
}

double share(Mark mark, NotDecided rule) {
  if (mark == Mark::undecided) {
    return rule == NotDecided::all ? 1 : rule == NotDecided::half ? 0.5 : 0;
  }
  return mark == Mark::met ? 1 : 0;
}

} // namespace

Rubric default_rubric() {
  using enum Criterion::Kind;
  return {.not_decided = NotDecided::half,
          .criteria = {{.kind = right, .points = 5},
                       {.kind = no_races, .points = 2},
                       {.kind = no_leaks, .points = 1},
                       {.kind = resident, .points = 2},
                       {.kind = faster_than, .points = 2, .row = "numpy", .factor = 1}}};
}

Rubric read_rubric(const std::filesystem::path& path) { return RubricReader(path).read(); }

Value rubric_json(const Rubric& rubric) {
  Value criteria = Value::list();
  for (const Criterion& each : rubric.criteria) {
    Value json = {{"criterion", to_string(each.kind)}};
    if (each.kind == Criterion::Kind::faster_than) {
      json["row"] = each.row;
      json["factor"] = each.factor;
    }
    json["points"] = each.points;
    criteria.push_back(std::move(json));
  }
  return {{rubric_member, rubric_schema},
          {"not_decided", to_string(rubric.not_decided)},
          {"criteria", std::move(criteria)}};
}

std::string title_of(const Criterion& criterion) {
  return criterion.kind == Criterion::Kind::faster_than
             ? fmt::format("more than {:g} times as fast as {}", criterion.factor, criterion.row)
             : std::string(to_string(criterion.kind));
}

Grade grade_by(const Rubric& rubric, const Graded& graded) {
  Grade grade;
  if (!is_final(graded.fate)) {
    return grade;
  }
  for (const Criterion& each : rubric.criteria) {
    const Mark mark = mark_of(graded, each);
    const double points = each.points * share(mark, rubric.not_decided);
    grade.criteria.push_back({.criterion = each, .mark = mark, .points = points});
    grade.points += points;
    grade.of += mark == Mark::not_judged ? 0 : each.points;
  }
  return grade;
}

} // namespace diffbench::bench
