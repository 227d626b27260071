// SPDX-License-Identifier: Apache-2.0
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

void declare_transfer(OptionList& options, SessionOptions& session) {
  options.group(gpu_group);
  options.named("--transfer MODE", session.transfer, transfer_names);
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
}

void declare_device_choice(OptionList& options, SessionOptions& session, bool& chosen) {
  declare_device(options, session.device, chosen);
  options.flag("--retune", session.retune, "measure again which kernel shape is best here");
}

void declare_round_trips(OptionList& options, std::int64_t& every) {
  options.integer("--roundtrip-every K", every, iteration_limits,
                  "add rows that copy the field up and down every K iterations, as a naive port "
                  "does");
}

} // namespace diffbench::bench
