// SPDX-License-Identifier: Apache-2.0
// The options that several verbs have: each function declares one or a group, for the fields that
// it is given. What these hold before is the default that the help shows.
#pragma once

#include "comparison_plan.hpp"
#include "option_list.hpp"

#include "diffbench/machine.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

inline constexpr Limits thread_limits{1, max_threads};

void declare_grid(OptionList& options, Problem& problem);
void declare_iterations(OptionList& options, std::int64_t& iterations);
void declare_dtype(OptionList& options, Dtype& dtype);
void declare_seed(OptionList& options, std::uint64_t& seed, std::string_view help);
void declare_backends(OptionList& options, std::vector<std::string>& names, std::string_view help);
void declare_threads(OptionList& options, int& threads, std::string_view help,
                     std::string_view otherwise);
/// Several, one after the other.
void declare_thread_list(OptionList& options, std::vector<int>& threads, std::string_view help,
                         std::string_view otherwise);
/// Refuses one that this CPU lacks.
void declare_isa(OptionList& options, SessionOptions& session);
/// A time that is waited for; without it `seconds` as it is, or what `otherwise` says.
void declare_seconds(OptionList& options, std::string_view usage, double& seconds,
                     std::string_view help, std::string_view otherwise = {});
/// `binds` is set when it was given: it is then all that the user waits (planning.hpp, TimeTable).
/// Without it `seconds`, which the help tells with `each` (" for each engine"), are those of the
/// timing rounds.
void declare_budget(OptionList& options, double& seconds, bool& binds, std::string_view each = {});
/// `chosen` is set when it was given.
void declare_device(OptionList& options, int& device, bool& chosen,
                    std::string_view help = "which GPU");

/// What is computed; refuses an unstable one.
void declare_problem(OptionList& options, RunPlan& run);
/// Refuses --isa, and more than one of --threads, where no backend of those that `names` gives
/// (empty: all) heeds them. `others` says whether other rows are threaded.
void declare_heeded(OptionList& options, const int& threads,
                    std::function<std::vector<std::string>()> names,
                    const std::function<bool()>& others = {});
/// Which rows, and for how long.
void declare_rows(OptionList& options, ComparisonPlan& plan, std::string_view budget_each = {});
/// The group of these and the following.
inline constexpr const char* gpu_group = "GPU backends";
/// How fields travel.
void declare_transfer(OptionList& options, SessionOptions& session);
/// Which device, and whether its kernels are tuned anew.
void declare_device_choice(OptionList& options, SessionOptions& session, bool& chosen);
void declare_round_trips(OptionList& options, std::int64_t& every);
void declare_ranks(OptionList& options, RankPlan& many);
/// Refuses these where the run is not on ranks. Throws InvalidInput.
void refuse_without_ranks(const RankPlan& many);
void declare_halo_depth(OptionList& options, std::int64_t& depth);
/// Its value is wanted before the arguments are parsed, and on all ranks: comm_timeout_in().
void declare_comm_timeout(OptionList& options);
/// Seconds, 0: no limit. The default where the arguments do not have it, or no such number.
[[nodiscard]] double comm_timeout_in(std::span<const std::string> arguments);

} // namespace diffbench::bench
