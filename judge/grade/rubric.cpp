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
#include <utility>

namespace diffbench::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* rubric_member = "diffbench_rubric";
constexpr int rubric_schema = 1;
constexpr double most_points = 1e6;

/// Of an object in a rubric's file; every message says where in it.
class Part {
 public:
  Part(const Json& json, std::string place, const std::vector<std::string>& known)
      : json_(json), place_(std::move(place)) {
    if (!json.is_object()) {
      throw InvalidInput(fmt::format("{} must be an object with \"{}\"",
                                     place_.empty() ? "the file" : place_,
                                     fmt::join(known, "\", \"")));
    }
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(known, key) == known.end()) {
        throw InvalidInput(fmt::format("{} is not known{}; there {} {}", name_of(key),
                                       did_you_mean(key, known), known.size() == 1 ? "is" : "are",
                                       fmt::join(known, ", ")));
      }
    }
  }

  /// The value of that key, or what is `usual`, as long as it holds; `what`: else it must be that.
  template <typename T, typename Holds>
  [[nodiscard]] T value(const char* key, std::string_view what, const Json& usual,
                        Holds holds) const {
    const Json& value = json_.contains(key) ? json_.at(key) : usual;
    if (!holds(value)) {
      throw InvalidInput(fmt::format("{} must be {}", name_of(key), what));
    }
    return value.get<T>();
  }
  [[nodiscard]] double number(const char* key, std::string_view limits, const Json& usual,
                              bool (*holds)(double)) const {
    return value<double>(
        key, fmt::format("a number {}", limits), usual,
        [holds](const Json& value) { return value.is_number() && holds(value.get<double>()); });
  }
  template <typename Parse>
  [[nodiscard]] auto named(const char* key, const Json& usual, Parse parse) const {
    const auto name = value<std::string>(key, "a text", usual,
                                         [](const Json& value) { return value.is_string(); });
    try {
      return parse(name);
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("{}: {}", name_of(key), error.what()));
    }
  }

 private:
  [[nodiscard]] std::string name_of(const std::string& key) const {
    return place_.empty() ? key : fmt::format("{}.{}", place_, key);
  }

  const Json& json_;
  std::string place_;
};

Criterion read_criterion(const Json& json, const std::string& place) {
  const bool of_time = json.is_object() && json.value("criterion", Json()) == "faster_than";
  const Part part(json, place,
                  of_time ? std::vector<std::string>{"criterion", "points", "row", "factor"}
                          : std::vector<std::string>{"criterion", "points"});
  Criterion read;
  read.kind = part.named("criterion", {},
                         [](const std::string& name) { return criterion_names.parse(name); });
  if (of_time) {
    const std::vector<std::string> rows = pace_rows();
    read.row = part.named("row", {}, [&](const std::string& name) {
      return std::ranges::find(rows, name) != rows.end() ? name
                                                         : throw unknown_name("row", name, rows);
    });
    read.factor = part.number("factor", "above 0, up to 1000000", 1,
                              [](double factor) { return factor > 0 && factor <= 1e6; });
  }
  read.points = part.number("points", "from 0 to 1000000", {},
                            [](double points) { return points >= 0 && points <= most_points; });
  return read;
}

Rubric rubric_of(const Json& json) {
  const Part part(json, "", {rubric_member, "not_decided", "criteria"});
  (void)part.value<int>(rubric_member, fmt::format("{}", rubric_schema), {},
                        [](const Json& value) { return value == rubric_schema; });
  Rubric rubric;
  rubric.not_decided =
      part.named("not_decided", to_string(rubric.not_decided),
                 [](const std::string& name) { return not_decided_names.parse(name); });
  const auto criteria =
      part.value<Json>("criteria", "a list of one criterion or more", {},
                       [](const Json& value) { return value.is_array() && !value.empty(); });
  for (const Json& each : criteria) {
    const std::string place = fmt::format("criteria[{}]", rubric.criteria.size());
    const Criterion read = read_criterion(each, place);
    // Only times are asked for again, with another factor.
    if (std::ranges::find(rubric.criteria, title_of(read), title_of) != rubric.criteria.end()) {
      throw InvalidInput(fmt::format("{} has \"{}\" for the second time", place, title_of(read)));
    }
    rubric.criteria.push_back(read);
  }
  return rubric;
}

/// Kernels that write less of the field leave the work to the host. A kernel that is wrong may
/// leave out edges or the last partial block, which are much of a small field: 3 x 5 of 7 x 5
/// cells.
constexpr double least_kernels_write = 0.25;

bool is_program(const Graded& graded) { return graded.form == program_form; }

/// Of what an emulated device looks at, which only files in CUDA have.
Mark mark_of_device(const Graded& graded, bool holds) {
  if (graded.language != Language::cuda) {
    return Mark::not_judged;
  }
  const bool works = is_program(graded) || graded.kernels_write >= least_kernels_write;
  return works && holds ? Mark::met : Mark::missed;
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
    case Criterion::Kind::no_faults: return mark_of_device(graded, graded.faults == 0);
    case Criterion::Kind::no_races: return mark_of_device(graded, graded.races == 0);
    case Criterion::Kind::no_leaks: return mark_of_device(graded, graded.leaks == 0);
    case Criterion::Kind::stopwatch:
      return is_program(graded) ? mark_of_device(graded, graded.stopwatch == 0) : Mark::not_judged;
    case Criterion::Kind::resident:
      return is_program(graded) ? Mark::not_judged : mark_of_device(graded, graded.resident);
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

Rubric read_rubric(const std::filesystem::path& path) {
  std::string text;
  try {
    text = text_of_small_file(path);
  } catch (const InvalidInput& error) {
    std::error_code ignored;
    throw InvalidInput(fmt::format(
        "--rubric {}: {}; diffbench try --print-rubric writes one to begin with", path.string(),
        std::filesystem::exists(path, ignored) ? error.what() : "there is no such file"));
  }
  try {
    return rubric_of(Json::parse(text));
  } catch (const Json::exception& error) {
    throw InvalidInput(fmt::format("{}: is no JSON: {}", path.string(), error.what()));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", path.string(), error.what()));
  }
}

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
