// The options that several verbs have: each function declares one or a group, for the fields that
// it is given. What these hold before is the default that the help shows.
#pragma once

#include "comparison_options.hpp"
#include "option_list.hpp"

#include "diffbench/machine.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

inline constexpr Limits thread_limits{1, max_threads};

void declare_grid(OptionList& options, Problem& problem);
void declare_iterations(OptionList& options, std::int64_t& iterations);
void declare_dtype(OptionList& options, Dtype& dtype);
void declare_seed(OptionList& options, std::uint64_t& seed, std::string_view help);
/// Those of this build.
[[nodiscard]] std::vector<std::string> backend_names();
void declare_backends(OptionList& options, std::vector<std::string>& names, std::string_view help);
void declare_threads(OptionList& options, int& threads, std::string_view help,
                     std::string_view otherwise);
/// Several, one after the other.
void declare_thread_list(OptionList& options, std::vector<int>& threads, std::string_view help,
                         std::string_view otherwise);
/// Refuses one that this CPU lacks.
void declare_isa(OptionList& options, SessionOptions& session);
void declare_budget(OptionList& options, double& seconds, std::string_view help);
/// `chosen` is set when it was given.
void declare_device(OptionList& options, int& device, bool& chosen,
                    std::string_view help = "which GPU");
/// --json, --csv and --export-markdown, and the group "Output" that they begin.
void declare_files(OptionList& options, std::string& json, std::string& csv, std::string& markdown);
/// These, --report and --no-progress.
void declare_results(OptionList& options, std::string& json, std::string& csv,
                     std::string& markdown, std::string& report, bool& progress);

/// What is computed; refuses an unstable one.
void declare_problem(OptionList& options, Options& run);
/// What runs, and for how long.
void declare_run(OptionList& options, Options& run, std::string_view budget_help);
/// What a verb makes of GPU sessions, each with what comes before it: measures them, makes rows of
/// round trips, keeps snapshots. Options that mean nothing to it are not declared.
enum class GpuUse { sessions, round_trips, snapshots };
void declare_gpu(OptionList& options, Options& run, GpuUse use);
/// Of several ranks; needs those of the problem before it.
void declare_ranks(OptionList& options, RankOptions& many);
void declare_halo_depth(OptionList& options, std::int64_t& depth);
void declare_comm_timeout(OptionList& options, double& seconds);
/// What the comparison shows and keeps.
void declare_output(OptionList& options, Options& run);

/// All of the comparison.
void declare_comparison(OptionList& options, Options& run);

} // namespace diffbench::bench
