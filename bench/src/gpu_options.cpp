// Options of the GPU backends. Others have no use for them.
#include "option_groups.hpp"
#include "option_values.hpp"

namespace diffbench::bench {

namespace {

constexpr std::int64_t max_device = 1023;

} // namespace

void GpuGroup::declare(CLI::App& app) {
  begin_group(app, "GPU backends");
  declare_value(app, "--transfer", transfer, "MODE",
                "pageable (default), pinned, registered, write-combined, mapped, managed");
  declare_flag(app, "--pinned", pinned, "page-locked host memory: --transfer pinned");
  declare_flag(app, "--async", async, "copies of snapshots run beside the computation");
  declare_value(app, "--device", device, "N", "which GPU (default 0)");
  declare_flag(app, "--retune", retune, "measure again which kernel shape is best here");
  declare_value(app, "--roundtrip-every", roundtrip_every, "K",
                "further rows: as a naive port, up and down every K steps");
}

void GpuGroup::read(Options& options) const {
  assign("--transfer", transfer, options.session.transfer, parse_transfer);
  if (pinned) {
    if (!transfer.empty() && options.session.transfer != Transfer::pinned) {
      throw InvalidInput(
          fmt::format("--pinned and --transfer {} contradict each other: give one", transfer));
    }
    options.session.transfer = Transfer::pinned;
  }
  if (!device.empty()) {
    options.session.device = static_cast<int>(parse_integer("--device", device, 0, max_device));
    options.device_chosen = true;
  }
  options.session.retune = retune;
  options.record.async = async;
  assign_integer("--roundtrip-every", roundtrip_every, 1, max_iterations, options.roundtrip_every);

  for (const auto& [option, given] :
       {std::pair{"--transfer", !transfer.empty()}, std::pair{"--pinned", pinned},
        std::pair{"--async", async}, std::pair{"--device", !device.empty()},
        std::pair{"--retune", retune}, std::pair{"--roundtrip-every", !roundtrip_every.empty()}}) {
    if (given) {
      options.gpu_options.emplace_back(option);
    }
  }
}

} // namespace diffbench::bench
