#include "subcommand.hpp"

#include "advise.hpp"
#include "calibrate.hpp"
#include "compare.hpp"
#include "doctor.hpp"
#include "list.hpp"
#include "mlp/latency.hpp"
#include "mlp/sizes.hpp"
#include "mlp/thread_scaling.hpp"
#include "mlp/throughput.hpp"
#include "mlp/train.hpp"
#include "pitfalls.hpp"
#include "report.hpp"
#include "residency.hpp"
#include "scaling.hpp"
#include "selftest.hpp"
#include "sweep.hpp"
#include "transfer.hpp"

#include <array>

namespace diffbench::bench {

namespace {

Action declare_list(CLI::App& /*app*/) {
  return [](const Invocation& invocation) { return run_list(invocation.out); };
}

Action declare_doctor(CLI::App& /*app*/) {
  return [](const Invocation& invocation) { return run_doctor(invocation.out); };
}

std::span<const Subcommand> mlp_verbs() {
  static constexpr std::array table{
      Subcommand{"train", "one network with every engine: time and quality side by side",
                 "diffbench mlp train --data disc --layers 2,4,8,16,2 --epochs 100",
                 declare_mlp_train},
      Subcommand{"depth", "a step of nets of doubling layers: who is fastest from which size on",
                 "diffbench mlp depth --peer torch --last 4:1024:x4", declare_mlp_depth},
      Subcommand{"width", "the same for two hidden layers of growing width",
                 "diffbench mlp width --peer torch --hidden 100,1000", declare_mlp_width},
      Subcommand{"scaling", "a step on 1, 2, 4, ... threads, and whether a GPU is worth it",
                 "diffbench mlp scaling --data mnist --threads 1,2,4", declare_mlp_scaling},
      Subcommand{"throughput", "rows a second by batch size, up to what memory holds",
                 "diffbench mlp throughput --layers 784,128,10", declare_mlp_throughput},
      Subcommand{"latency", "how long a network takes to answer, and what mistakes would report",
                 "diffbench mlp latency --layers 784,128,10", declare_mlp_latency},
  };
  return table;
}

} // namespace

std::span<const Subcommand> subcommands() {
  static constexpr std::array table{
      Subcommand{"list", "backends and peers, and whether they can run here", "diffbench list",
                 declare_list},
      Subcommand{"doctor",
                 "what this machine and this build can do, and how to get what is missing",
                 "diffbench doctor", declare_doctor},
      Subcommand{"residency",
                 "one solve, from a copy to the host and back every step to a field that stays",
                 "diffbench residency --grid 640 --iters 1000", declare_residency},
      Subcommand{"scaling", "one backend on 1, 2, 4, ... threads: speed-up, efficiency, how many",
                 "diffbench scaling --grid 2048 --iters 200 --threads 1,2,4", declare_scaling},
      Subcommand{"sweep", "the comparison for all combinations of lists and ranges of its options",
                 "diffbench sweep --grid 64:8192:x2 --iters 1,10,100,1000 --out sweep.jsonl",
                 declare_sweep},
      Subcommand{"transfer", "what copies cost: within the host, and to and from a GPU",
                 "diffbench transfer --json transfer.json", declare_transfer},
      Subcommand{"calibrate", "measures this machine, so that advise can predict",
                 "diffbench calibrate", declare_calibrate},
      Subcommand{"advise", "predicts every way to make a run, and whether a GPU pays",
                 "diffbench advise --grid 2048 --iters 500 --check", declare_advise},
      Subcommand{"compare",
                 "two result files: which rows became faster or slower, and how sure that is",
                 "diffbench compare old.json new.json --fail-on slower=5%", declare_compare},
      Subcommand{"selftest",
                 "compares a backend with itself: how often that gets a verdict, and how often a "
                 "planted slowdown is found",
                 "diffbench selftest --trials 200", declare_selftest},
      Subcommand{"pitfalls", "classic mistakes of measuring beside the right measurement",
                 "diffbench pitfalls --only no-warm-up --only hot-cache", declare_pitfalls},
      Subcommand{"report", "result files of any command as one page of pictures",
                 "diffbench report run.json sweep.json -o report.html", declare_report},
      Subcommand{"mlp", "the same questions for the training of neural networks",
                 "diffbench mlp train --data disc", nullptr, mlp_verbs},
  };
  return table;
}

} // namespace diffbench::bench
