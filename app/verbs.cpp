// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>

namespace diffbench::bench {

namespace {

/// A verb that makes its report in a moment.
Action declare_shown(OptionList& options, const std::string& name,
                     const std::function<LabReport()>& make) {
  const auto output = std::make_shared<LabOutput>();
  output->declare_files(options);
  return [output, name, make](const Invocation& invocation) {
    return show_report(name, *output, invocation, make);
  };
}

Action declare_list(OptionList& options) { return declare_shown(options, "list", list_report); }

Action declare_doctor(OptionList& options) {
  return declare_shown(options, "doctor", [] { return doctor_report(); });
}

constexpr Verb on_ranks(Verb verb) {
  verb.on_ranks = true;
  return verb;
}

} // namespace

/// A function of the lab, which is declared here alone.
#define LAB(function)                     \
  [](OptionList& options) {               \
    Action function(OptionList& options); \
    return function(options);             \
  }

static std::span<const Verb> mlp_verbs() {
  static constexpr std::array table{
      Verb{"train", "one network with every engine: time and quality side by side",
           "diffbench mlp train --data disc --layers 2,4,8,16,2 --epochs 100",
           LAB(declare_mlp_train)},
      Verb{"depth", "nets of doubling layers: which engine is fastest, from which size on",
           "diffbench mlp depth --peer torch --last 4:1024:x4", LAB(declare_mlp_depth)},
      Verb{"width", "nets of two hidden layers of growing width: the same question",
           "diffbench mlp width --peer torch --hidden 100,1000", LAB(declare_mlp_width)},
      Verb{"scaling", "a training step on 1, 2, 4, ... threads, and whether a GPU is worth it",
           "diffbench mlp scaling --threads 1,2,4", LAB(declare_mlp_scaling)},
      Verb{"throughput", "rows a second by batch size, up to what memory holds",
           "diffbench mlp throughput --layers 784,128,10", LAB(declare_mlp_throughput)},
      Verb{"latency", "how long an answer takes, and what mistakes of measuring would report",
           "diffbench mlp latency --layers 784,128,10", LAB(declare_mlp_latency)},
  };
  return table;
}

static std::span<const Verb> cluster_verbs() {
  static constexpr std::array table{
      on_ranks({"strong", "the same grid on 1, 2, 4, ... ranks, beside the run without ranks",
                "diffbench cluster strong --grid 4096 --ranks 1,2", LAB(declare_cluster_strong)}),
      on_ranks({"weak", "a grid that grows with the ranks",
                "diffbench cluster weak --grid 2048 --ranks 1,2", LAB(declare_cluster_weak)}),
      on_ranks({"depth", "the same ranks with deeper and deeper halos, measured and by a model",
                "diffbench cluster depth --grid 1024 --network 100us,10GB/s",
                LAB(declare_cluster_depth)}),
      on_ranks({"predict", "predicted time of a run on up to thousands of ranks",
                "diffbench cluster predict --grid 16384 --rate 2500 --network 6us,150GB/s",
                LAB(declare_cluster_predict)}),
  };
  return table;
}

static std::span<const Verb> program_verbs() {
  static constexpr std::string_view start = "Start", learn = "Learn", decide = "Decide",
                                    keep = "Keep";
  static constexpr std::array table{
      Verb{"list", "backends and peers, and whether they can run here",
           "diffbench list --csv list.csv", declare_list, start},
      Verb{"doctor", "what this machine and this build can do, and how to get what is missing",
           "diffbench doctor --json doctor.json", declare_doctor, start},
      Verb{"lesson", "five lessons: a guess first, then the figure, then why", "diffbench lesson 1",
           LAB(declare_lesson), learn},
      Verb{"try",
           "your own kernel in C, C++, CUDA or Python, or those of a class: right or not and why, "
           "and how fast",
           "diffbench try my.cpp", LAB(declare_try), learn},
      Verb{"pitfalls", "classic mistakes of measuring beside the right measurement",
           "diffbench pitfalls --only no-warm-up --only hot-cache", LAB(declare_pitfalls), learn},
      Verb{"residency",
           "one problem, from copies to the host and back in every step to a field that stays",
           "diffbench residency --grid 640 --iters 1000", LAB(declare_residency), learn},
      Verb{"transfer", "what copies cost: within the host, and to and from a GPU",
           "diffbench transfer --json transfer.json", LAB(declare_transfer), learn},
      Verb{"scaling",
           "one backend on 1, 2, 4, ... threads: speed-up, efficiency, how many are "
           "worth it",
           "diffbench scaling --grid 2048 --iters 200 --threads 1,2,4", LAB(declare_scaling),
           learn},
      Verb{"live", "a page that solves the problem on its reader's own GPU and CPU",
           "diffbench live -o live.html", declare_live, learn},
      Verb{"cluster",
           "many ranks: how they scale, how deep halos should be, and what the network costs",
           "diffbench cluster depth --network 10us,25GB/s", nullptr, learn, cluster_verbs},
      Verb{"mlp", "the same questions for the training of neural networks",
           "diffbench mlp train --data disc", nullptr, learn, mlp_verbs},
      Verb{"advise",
           "which backend for a run, from few steps, and whether a GPU pays that is not here",
           "diffbench advise --grid 2048 --iters 500 --assume h200", LAB(declare_advise), decide},
      Verb{"sweep", "the comparison for all combinations of lists and ranges of its options",
           "diffbench sweep --grid 64:8192:x2 --iters 1,10,100,1000 --json sweep.json",
           LAB(declare_sweep), decide},
      Verb{"duel", "two commands or files in turn, until it is decided which one is faster",
           "diffbench duel './old --flags' './new --flags' --fail-on slower=2%", LAB(declare_duel),
           decide},
      on_ranks(
          {"run",
           "one backend for as long as it takes: checkpoints, restarts, snapshots, pictures, "
           "and fields that only many ranks can hold",
           "diffbench run --grid 16384 --iters 1000000 --checkpoint run.state --checkpoint-every "
           "10000",
           declare_run, keep}),
      Verb{"compare",
           "two result files: which rows became faster or slower, and how sure that is; or duels "
           "over time",
           "diffbench compare old.json new.json --fail-on slower=10%", LAB(declare_compare), keep},
      Verb{"report", "result files of any command as one page of pictures",
           "diffbench report run.json sweep.json -o report.html --csv rows.csv", declare_report,
           keep},
      Verb{"selftest",
           "compares a backend with itself: how often that gets a verdict, and how often a planted "
           "slowdown is found",
           "diffbench selftest --trials 200", LAB(declare_selftest), keep},
  };
  return table;
}

#undef LAB

const Verb& program() {
  static constexpr Verb comparison = on_ranks(
      {"diffbench",
       "Compares backends that solve the 2D diffusion equation: all must give the same bits, then "
       "they are timed.",
       R"(diffbench --grid 640 --iters 1000                     all backends, verified, then timed
  diffbench --grid 640 --iters 1000 --pinned            the same, GPU copies page-locked
  diffbench --grid 8192 --backend simd --json out.json  one backend, results kept
  diffbench --backend simd --peer numpy --baseline peer:numpy)",
       declare_default,
       {},
       program_verbs});
  return comparison;
}

} // namespace diffbench::bench
