// SPDX-License-Identifier: Apache-2.0
#include "fail_on.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace diffbench::bench {

namespace {

double parse_slower(std::string_view option, std::string_view text) {
  constexpr std::string_view kind = "slower=";
  try {
    if (text.starts_with(kind)) {
      return parse_percent(option, text.substr(kind.size()));
    }
  } catch (const InvalidInput&) { // its words would leave "slower=" out
  }
  throw InvalidInput(fmt::format(
      "{} {}: give unclear, or slower=X% with X above 0, up to 1000, such as slower=10%", option,
      text));
}

} // namespace

void declare_fail_on(OptionList& options, FailOn& fail_on, std::string_view help) {
  options.values("--fail-on slower=X%|unclear", help,
                 [&fail_on](std::string_view option, const std::string& text) {
                   if (text == "unclear") {
                     fail_on.unclear = true;
                   } else {
                     fail_on.slower = parse_slower(option, text);
                   }
                 });
}

} // namespace diffbench::bench
