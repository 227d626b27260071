// SPDX-License-Identifier: Apache-2.0
#include "sweep_plan.hpp"

#include "diffbench/errors.hpp"
#include "value_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace diffbench::bench {

namespace {

/// An option that may have several values.
struct Swept {
  const char* option;
  Values values = Values::numbers;
};

/// In the order of the axes.
constexpr Swept swept_options[] = {{"--grid"},
                                   {"--iters"},
                                   {"--dtype", Values::words},
                                   {"--threads"},
                                   {"--isa", Values::words},
                                   {"--boundary", Values::words},
                                   {"--boundary-value"},
                                   {"--init", Values::words},
                                   {"--seed"},
                                   {"--dt"},
                                   {"--diffusivity"},
                                   {"--spacing"},
                                   {"--transfer", Values::words},
                                   {"--device"},
                                   {"--roundtrip-every"}};

/// All that were given, as they were typed.
OptionValues given_options(OptionList& list) {
  OptionValues values;
  for (const OptionList::Option& option : list.options()) {
    if (option.kind != OptionList::Kind::check && !option.typed.empty()) {
      const bool is_flag = option.kind == OptionList::Kind::flag;
      values[option.name] = is_flag ? std::vector<std::string>() : option.typed;
    }
  }
  return values;
}

} // namespace

std::size_t SweepPlan::count() const {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
    if (static_cast<double>(count) > max_combinations) {
      break; // the product of all may be too much for any number
    }
  }
  return count;
}

std::vector<std::string> SweepPlan::values(std::size_t number) const {
  std::vector<std::string> values;
  for (const Axis& axis : axes) {
    values.push_back(axis.values[number % axis.values.size()]);
    number /= axis.values.size();
  }
  return values;
}

SweptOptions::SweptOptions() {
  run.budget_seconds = default_combination_seconds;
  run.copy_roof = false; // the machine's, not a combination's
  declare_problem(list, run);
  declare_rows(list, run, " for each combination");
  declare_transfer(list, run.session);
  declare_device_choice(list, run.session, run.device_chosen);
  declare_round_trips(list, run.roundtrip_every);
}

SweepPlan plan_sweep(SweptOptions& swept) {
  SweepPlan plan;
  plan.options = given_options(swept.list);
  std::vector<std::pair<const char*, ValueList>> lists;
  double count = 1;
  for (const auto& [option, kind] : swept_options) {
    if (const auto given = plan.options.find(option); given != plan.options.end()) {
      lists.emplace_back(option, ValueList(option, given->second.front(), kind));
      count *= lists.back().second.count();
    }
  }
  if (!(count <= max_combinations)) {
    throw InvalidInput(fmt::format(
        "these lists and ranges make {} combinations; a sweep has at most {:.0f}: choose fewer "
        "values",
        count < 1e15 ? fmt::format("{:.0f}", count) : "more than 10^15", max_combinations));
  }
  for (const auto& [option, list] : lists) {
    const std::vector<std::string>& values = plan.options[option] = list.values();
    swept.list.type(option, {values.front()});
    if (values.size() > 1) {
      plan.axes.push_back({.option = option, .values = values});
    }
  }
  const ComparisonPlan start = swept.run;
  std::vector<std::string> idle;
  for (std::size_t number = 0; number < plan.count(); ++number) {
    std::vector<std::string> values = plan.values(number);
    for (std::size_t i = 0; i < values.size(); ++i) {
      swept.list.type(plan.axes[i].option, {values[i]});
    }
    swept.run = start;
    swept.list.read_values();
    const std::vector<std::string> here = swept.list.without_effect();
    if (number == 0) {
      idle = here;
    } // what one combination heeds has an effect
    std::erase_if(idle, [&](const std::string& message) {
      return std::ranges::find(here, message) == here.end();
    });
    if (swept.run.budget_binds) {
      plan.budget_seconds = swept.run.budget_seconds;
      swept.run.budget_seconds /= static_cast<double>(plan.count());
    }
    plan.combinations.push_back({.values = std::move(values), .run = swept.run});
  }
  if (!idle.empty()) {
    throw InvalidInput(idle.front());
  }
  return plan;
}

} // namespace diffbench::bench
