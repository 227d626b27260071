// SPDX-License-Identifier: Apache-2.0
// The verb without a name: the comparison, or a run that lasts where an option of such a run is
// given. Each mode declares its own options; the command line has those of both.
#include "comparison.hpp"
#include "diffbench/errors.hpp"
#include "long_run.hpp"
#include "option_groups.hpp"
#include "option_list.hpp"
#include "selection.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace diffbench::bench {

namespace {

struct Modes {
  ComparisonOptions comparison;
  LongRunOptions long_run;
  OptionList of_comparison, of_long_run;
  bool lasts = false; ///< the long run was chosen
};

/// Reads the options of the mode that `given` chooses; what it does not know is refused.
void choose(Modes& modes, const OptionList& given) {
  std::string foreign; // to a long run
  constexpr const char* lasting = "--checkpoint, --restart or --distributed";
  const auto lasts = [&given](const char* name) { return given.given(name); };
  modes.lasts = lasts("--checkpoint") || lasts("--checkpoint-every") || lasts("--restart") ||
                lasts("--distributed");
  for (const std::string& name : given.given_names()) {
    if (!modes.lasts && !modes.of_comparison.declares(name)) {
      modes.of_long_run.read_values(); // a wrong value is told first
      throw InvalidInput(fmt::format("{}: has no effect without {}", name, lasting));
    }
    foreign = foreign.empty() && !modes.of_long_run.declares(name) ? name : foreign;
  }
  if (modes.lasts && !foreign.empty()) {
    throw InvalidInput(fmt::format("{} is an option of the comparison; it cannot be used with {}",
                                   foreign, lasting));
  }
  (modes.lasts ? modes.of_long_run : modes.of_comparison).read();
}

} // namespace

Action declare_default(OptionList& options) {
  const auto modes = std::make_shared<Modes>();
  declare_comparison(modes->of_comparison, modes->comparison);
  declare_long_run(modes->of_long_run, modes->long_run);
  options.add(modes->of_comparison);
  options.add(modes->of_long_run);
  options.check([&modes = *modes, &options] { choose(modes, options); });
  return [modes](const Invocation& invocation) {
    if (invocation.ranks == nullptr) {
      refuse_without_ranks(modes->lasts ? modes->of_long_run : modes->of_comparison);
    }
    if (modes->lasts) {
      return run_long(modes->long_run, invocation);
    }
    ComparisonOptions& comparison = modes->comparison;
    comparison.many.ranks = invocation.ranks;
    return run_comparison(comparison, select_backends(comparison, comparison.many), invocation);
  };
}

} // namespace diffbench::bench
