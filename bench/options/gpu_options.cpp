// Options of the GPU backends. Others have no use for them.
#include "option_groups.hpp"

namespace diffbench::bench {

void declare_device(OptionList& options, int& device, bool& chosen, std::string_view help) {
  static constexpr Limits limits{0, 1023};
  options.value("--device N", described(help, to_string(limits), fmt::to_string(device)),
                [&device, &chosen](std::string_view option, const std::string& text) {
                  device = static_cast<int>(parse_integer(option, text, limits));
                  chosen = true;
                });
}

void declare_gpu(OptionList& options, Options& run, GpuUse use) {
  constexpr const char* title = "GPU backends";
  SessionOptions& session = run.session;
  options.group(title);
  options.parsed("--transfer MODE", session.transfer,
                 "pageable (default), pinned, registered, write-combined, mapped, managed",
                 parse_transfer);
  options.choices({"pageable", "pinned", "registered", "write-combined", "mapped", "managed"});
  options.flag("--pinned", "page-locked host memory: --transfer pinned");
  options.check([&] {
    if (options.given("--pinned")) {
      if (options.given("--transfer") && session.transfer != Transfer::pinned) {
        throw InvalidInput(fmt::format("--pinned and --transfer {} contradict each other: give one",
                                       to_string(session.transfer)));
      }
      session.transfer = Transfer::pinned;
    }
  });
  if (use >= GpuUse::snapshots) {
    options.flag("--async", run.record.async, "copies of snapshots run beside the computation");
  }
  declare_device(options, session.device, run.device_chosen);
  options.flag("--retune", session.retune, "measure again which kernel shape is best here");
  if (use >= GpuUse::round_trips) {
    options.integer("--roundtrip-every K", run.roundtrip_every, iteration_limits,
                    "further rows: as a naive port, up and down every K iterations");
  }
  options.check([&] { run.gpu_options = options.given_names(title); });
}

} // namespace diffbench::bench
