// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace diffbench::bench {

namespace {

std::string extent(const Difference& found, std::int64_t cells) {
  std::string text = fmt::format("by up to {:g} ({} ulp) in {} of {} cells {}, first at x={} y={}",
                                 found.max_abs_error, found.max_ulps, found.cells, cells,
                                 to_string(found.place), found.x, found.y);
  return found.nonfinite == 0 ? text : fmt::format("{}, {} not finite", text, found.nonfinite);
}

// Of the field that tells most: the smallest after the fewest steps, where there is one.
std::string judgement(const Difference& found, std::int64_t steps) {
  if (!found.one_sign) {
    return "cells of both signs do not tell rounding from a fault";
  }
  if (found.is_rounding(steps)) {
    return fmt::format(
        "no more than rounding does: another order of the operations, or a fused "
        "multiply-add (--tolerance {} allows what was found so far)",
        std::max<std::int64_t>(1, found.max_ulps));
  }
  if (found.within_rounding(steps)) {
    return fmt::format(
        "as little as rounding does, but only {}: another order of the operations "
        "there, or a fault that is so small",
        to_string(found.place));
  }
  return fmt::format("more than rounding does: a fault {}", to_string(found.place));
}

Value difference_json(const Difference& found, std::int64_t steps) {
  const bool is_open =
      !found.one_sign || (found.within_rounding(steps) && !found.is_rounding(steps));
  return {{"cells", found.cells},
          {"x", found.x},
          {"y", found.y},
          {"place", to_string(found.place)},
          {"max_abs_error", found.max_abs_error},
          {"max_ulps", found.max_ulps},
          {"nonfinite", found.nonfinite},
          {"rounding", is_open ? Value() : Value(found.is_rounding(steps))}};
}

Value wrong_field_json(const WrongField& wrong) {
  Value json{{"grid", fmt::format("{}x{}", wrong.nx, wrong.ny)},
             {"boundary", to_string(wrong.boundary)},
             {"content", to_string(wrong.cells)},
             {"steps", wrong.steps}};
  json["difference"] = difference_json(wrong.difference, wrong.steps);
  return json;
}

std::vector<std::string_view> names_of(const std::vector<Boundary>& boundaries) {
  std::vector<std::string_view> names;
  names.reserve(boundaries.size());
  for (const Boundary boundary : boundaries) {
    names.push_back(to_string(boundary));
  }
  return names;
}

Value fields_json(const ProvedFields& fields) {
  return {{"count", fields.count},
          {"grids", fields.grids},
          {"boundaries", fields.boundaries},
          {"most_steps", fields.most_steps},
          {"wrong", fields.wrong ? wrong_field_json(*fields.wrong) : Value()}};
}

std::string fields_text(const ProvedFields& fields) {
  return fields.count == 0 ? "no others"
                           : fmt::format("others of {} cells, {}", fmt::join(fields.grids, ", "),
                                         fmt::join(names_of(fields.boundaries), ", "));
}

} // namespace

std::string describe_wrong(const Verification& verification, const Problem& problem) {
  const bool run_differs = verification.difference.has_value();
  std::string text =
      run_differs ? fmt::format("differs from the reference after {} {}",
                                counted(verification.steps, "step"),
                                extent(*verification.difference, problem.cells()))
                  : fmt::format("differs from the reference, though not in the field of the run");
  const auto& fields = verification.fields;
  if (fields && fields->wrong) {
    const WrongField& wrong = *fields->wrong;
    text += fmt::format("; on {}x{} {} cells, {}, after {} {}; {}", wrong.nx, wrong.ny,
                        to_string(wrong.cells), to_string(wrong.boundary),
                        counted(wrong.steps, "step"), extent(wrong.difference, wrong.nx * wrong.ny),
                        judgement(wrong.difference, wrong.steps));
  } else if (run_differs) {
    text += fields && fields->count > 0 ? "; on small fields it is right; " : "; ";
    text += judgement(*verification.difference, verification.steps);
  }
  return text + "; it was not timed";
}

std::string format_proofs(const ComparisonResult& result) {
  struct Group {
    std::string fields;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
  for (const Row& row : result.rows) {
    if (!row.verified() || !row.verification->fields) {
      continue;
    }
    const std::string fields = fields_text(*row.verification->fields);
    auto group = std::ranges::find(groups, fields, &Group::fields);
    if (group == groups.end()) {
      group = groups.insert(group, {.fields = fields, .names = {}});
    }
    group->names.push_back(row.name);
  }
  std::string text;
  for (const Group& group : groups) {
    text += groups.size() == 1
                ? fmt::format("verified: the field of the run, and {}\n", group.fields)
                : fmt::format("verified: {}: the field of the run, and {}\n",
                              fmt::join(group.names, ", "), group.fields);
  }
  return text;
}

Value verification_json(const Verification& verification) {
  return {{"bitwise", verification.bitwise},
          {"reference", "scalar loop, NumPy's order of operations"},
          {"steps", verification.steps},
          {"max_abs_error", verification.max_abs_error},
          {"nonfinite", verification.nonfinite},
          {"within_ulps", verification.within_ulps},
          {"difference", verification.difference
                             ? difference_json(*verification.difference, verification.steps)
                             : Value()},
          {"fields", verification.fields ? fields_json(*verification.fields) : Value()}};
}

} // namespace diffbench::bench
