// SPDX-License-Identifier: Apache-2.0
// Options of runs on many ranks.
#include "option_groups.hpp"

#include "diffbench/text.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace diffbench::bench {

namespace {

constexpr std::string_view comm_timeout = "--comm-timeout";
constexpr std::string_view ranks_group = "Many ranks (mpirun -n 4 diffbench ...)";
constexpr double usual_comm_timeout = 120;
constexpr double longest_comm_timeout = 86400;

bool is_comm_timeout(double seconds) { return seconds >= 0 && seconds <= longest_comm_timeout; }

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

double comm_timeout_in(std::span<const std::string> arguments) {
  std::optional<double> seconds;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == comm_timeout && i + 1 < arguments.size()) {
      seconds = parse_number<double>(arguments[i + 1]);
    } else if (argument.starts_with(comm_timeout) && argument.size() > comm_timeout.size() &&
               argument[comm_timeout.size()] == '=') {
      seconds = parse_number<double>(argument.substr(comm_timeout.size() + 1));
    }
  }
  return seconds && is_comm_timeout(*seconds) ? *seconds : usual_comm_timeout;
}

void declare_comm_timeout(OptionList& options) {
  options.value(
      std::string(comm_timeout) + " SECONDS",
      described("end the run when a message takes longer; 0: never",
                fmt::format("0 to {}", longest_comm_timeout), fmt::to_string(usual_comm_timeout)),
      [](std::string_view option, const std::string& text) {
        if (!is_comm_timeout(parse_real(option, text))) {
          throw InvalidInput(
              fmt::format("{} {}: give seconds from 0 to {}", option, text, longest_comm_timeout));
        }
      });
}

void refuse_without_ranks(const RankPlan& many) {
  if (many.ranks == nullptr && !many.given.empty()) {
    throw InvalidInput(fmt::format(
        "{}: has no effect on one process; start several ranks: mpirun -n 4 diffbench ...",
        many.given.front()));
  }
}

void declare_ranks(OptionList& options, RankPlan& many) {
  options.group(std::string(ranks_group));
  options.check([&] { many.given = options.given_names(ranks_group); });
  declare_halo_depth(options, many.halo_depth);
  options.parsed("--gpu-aware on|off", many.gpu_aware,
                 "keep messages of GPU rows on the device; needs an MPI with CUDA support "
                 "(default: off, staged in page-locked memory)",
                 parse_switch);
  declare_comm_timeout(options);
}

} // namespace diffbench::bench
