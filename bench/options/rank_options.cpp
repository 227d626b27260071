// Options of runs on many ranks.
#include "option_groups.hpp"

namespace diffbench::bench {

namespace {

bool parse_switch(const std::string& text) {
  if (text != "on" && text != "off") {
    throw InvalidInput(fmt::format("'{}' is neither on nor off", text));
  }
  return text == "on";
}

} // namespace

void declare_halo_depth(OptionList& options, std::int64_t& depth) {
  static constexpr Limits limits{1, max_extent};
  options.value("--halo-depth K|auto",
                "exchange halos of K rows every K steps (default: auto, chosen by trial)",
                [&depth](std::string_view option, const std::string& text) {
                  depth = text == "auto" ? 0 : parse_integer(option, text, limits);
                });
}

void declare_comm_timeout(OptionList& options, double& seconds) {
  static constexpr double longest = 86400;
  options.value("--comm-timeout SECONDS",
                described("end the run when a message takes longer; 0: never",
                          fmt::format("0 to {}", longest), fmt::to_string(seconds)),
                [&seconds](std::string_view option, const std::string& text) {
                  seconds = parse_real(option, text);
                  if (!(seconds >= 0 && seconds <= longest)) {
                    throw InvalidInput(
                        fmt::format("{} {}: give seconds from 0 to {}", option, text, longest));
                  }
                });
}

void declare_ranks(OptionList& options, RankPlan& many, double& message_seconds) {
  options.group(ranks_group);
  declare_halo_depth(options, many.halo_depth);
  options.parsed("--gpu-aware on|off", many.gpu_aware,
                 "keep messages of GPU rows on the device; needs an MPI with CUDA support "
                 "(default: off, staged in page-locked memory)",
                 parse_switch);
  options.choices({"on", "off"});
  declare_comm_timeout(options, message_seconds);
}

} // namespace diffbench::bench
