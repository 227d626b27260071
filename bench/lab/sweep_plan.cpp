#include "sweep_plan.hpp"

#include "diffbench/errors.hpp"
#include "value_list.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <utility>

namespace diffbench::bench {

namespace {

/// An option that may have several values, and where its text lies.
struct Swept {
  const char* option;
  std::string* text;
  bool numbers;
};

std::vector<Swept> swept_options(SweptGroups& groups) {
  ProblemGroup& problem = groups.problem;
  RunGroup& run = groups.run;
  GpuGroup& gpu = groups.gpu;
  return {{"--grid", &problem.grid, true},
          {"--iters", &problem.iters, true},
          {"--dtype", &problem.dtype, false},
          {"--threads", &run.threads, true},
          {"--isa", &run.isa, false},
          {"--boundary", &problem.boundary, false},
          {"--boundary-value", &problem.boundary_value, true},
          {"--init", &problem.init, false},
          {"--seed", &problem.seed, true},
          {"--dt", &problem.dt, true},
          {"--diffusivity", &problem.diffusivity, true},
          {"--spacing", &problem.spacing, true},
          {"--transfer", &gpu.transfer, false},
          {"--device", &gpu.device, true},
          {"--roundtrip-every", &gpu.roundtrip_every, true}};
}

/// The options that hold for all combinations.
OptionValues fixed_options(const SweptGroups& groups) {
  OptionValues options;
  const auto& [problem, run, gpu] = groups;
  for (const auto& [option, values] :
       {std::pair{"--backend", &run.backends}, std::pair{"--peer", &run.peers}}) {
    if (!values->empty()) {
      options[option] = *values;
    }
  }
  for (const auto& [option, text] :
       {std::pair{"--baseline", &run.baseline}, std::pair{"--budget", &run.budget}}) {
    if (!text->empty()) {
      options[option] = {*text};
    }
  }
  for (const auto& [option, given] :
       {std::pair{"--allow-unstable", problem.allow_unstable}, std::pair{"--pinned", gpu.pinned},
        std::pair{"--async", gpu.async}, std::pair{"--retune", gpu.retune}}) {
    if (given) {
      options[option] = {};
    }
  }
  return options;
}

Options read(const SweptGroups& groups) {
  Options options;
  options.budget_seconds = default_combination_seconds;
  options.copy_roof = false; // the machine's, not a combination's
  groups.problem.read(options);
  groups.run.read(options);
  groups.gpu.read(options);
  return options;
}

/// Sets the texts that belong to the axes to the combination of that number.
std::vector<std::string> choose(const std::vector<Axis>& axes,
                                const std::vector<std::string*>& texts, std::size_t number) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& all = axes[i].values;
    values.push_back(all[number % all.size()]);
    *texts[i] = values.back();
    number /= all.size();
  }
  return values;
}

} // namespace

SweepPlan plan_sweep(const SweptGroups& typed) {
  SweptGroups groups = typed;
  SweepPlan plan;
  plan.options = fixed_options(groups);
  std::vector<std::pair<Swept, ValueList>> lists;
  double count = 1;
  for (const Swept& swept : swept_options(groups)) {
    if (!swept.text->empty()) {
      lists.emplace_back(swept, ValueList(swept.option, *swept.text, swept.numbers));
      count *= lists.back().second.count();
    }
  }
  if (!(count <= max_combinations)) {
    throw InvalidInput(fmt::format(
        "these lists and ranges make {} combinations; a sweep has at most {:.0f}: choose fewer "
        "values",
        count < 1e15 ? fmt::format("{:.0f}", count) : "more than 10^15", max_combinations));
  }
  std::vector<std::string*> texts;
  std::size_t combinations = 1;
  for (const auto& [swept, list] : lists) {
    std::vector<std::string> values = list.values();
    plan.options[swept.option] = values;
    *swept.text = values.front();
    if (values.size() > 1) {
      combinations *= values.size();
      texts.push_back(swept.text);
      plan.axes.push_back({.option = swept.option, .values = std::move(values)});
    }
  }
  for (std::size_t number = 0; number < combinations; ++number) {
    std::vector<std::string> values = choose(plan.axes, texts, number);
    plan.combinations.push_back({.values = std::move(values), .options = read(groups)});
  }
  return plan;
}

} // namespace diffbench::bench
