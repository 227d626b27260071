// The verbs of the lab: each declares its options and returns the experiment.
#pragma once

#include "selftest_trials.hpp"
#include "verb.hpp"

namespace diffbench::bench {

[[nodiscard]] Action declare_advise(OptionList& options);
[[nodiscard]] Action declare_calibrate(OptionList& options);
[[nodiscard]] Action declare_cluster_depth(OptionList& options);
[[nodiscard]] Action declare_cluster_predict(OptionList& options);
[[nodiscard]] Action declare_cluster_strong(OptionList& options);
[[nodiscard]] Action declare_cluster_weak(OptionList& options);
[[nodiscard]] Action declare_compare(OptionList& options);
[[nodiscard]] Action declare_get_data(OptionList& options);
[[nodiscard]] Action declare_lesson(OptionList& options);
[[nodiscard]] Action declare_mlp_depth(OptionList& options);
[[nodiscard]] Action declare_mlp_latency(OptionList& options);
[[nodiscard]] Action declare_mlp_scaling(OptionList& options);
[[nodiscard]] Action declare_mlp_throughput(OptionList& options);
[[nodiscard]] Action declare_mlp_train(OptionList& options);
[[nodiscard]] Action declare_mlp_width(OptionList& options);
[[nodiscard]] Action declare_pitfalls(OptionList& options);
[[nodiscard]] Action declare_residency(OptionList& options);
[[nodiscard]] Action declare_scaling(OptionList& options);
/// Trials of engines are made by another experiment, which is handed over.
[[nodiscard]] Action declare_selftest(OptionList& options, MakeEngineTrials engine_trials);
[[nodiscard]] Action declare_sweep(OptionList& options);
[[nodiscard]] Action declare_transfer(OptionList& options);
[[nodiscard]] Action declare_watch(OptionList& options);

} // namespace diffbench::bench
