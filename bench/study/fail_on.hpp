// SPDX-License-Identifier: Apache-2.0
// --fail-on: what makes the exit code 5.
#pragma once

#include "option_list.hpp"

#include <optional>

namespace diffbench::bench {

struct FailOn {
  std::optional<double> slower; ///< by more than this
  bool unclear = false;
};

/// "slower=X%" or "unclear"; may be repeated.
void declare_fail_on(OptionList& options, FailOn& fail_on, std::string_view help);

} // namespace diffbench::bench
