// SPDX-License-Identifier: Apache-2.0
// `diffbench advise --step 12ms --bytes-per-cell 40 ...`: what advise says of a code that is not
// ours. The CPU's time is measured by whoever asks; the card is assumed.
#pragma once

#include "assumed_card.hpp"
#include "diffbench/problem.hpp"
#include "lab_report.hpp"
#include "option_list.hpp"

#include <cstdint>

namespace diffbench::bench {

struct OwnCode {
  bool given = false;
  double step_seconds = 0; ///< on the CPU, all cells
  double bytes_per_cell = 0, flops_per_cell = 0;
  double cells = 0;
  double copies_per_step = 0;        ///< half of them each way
  std::int64_t steps_per_launch = 1; ///< that a kernel may take
};

/// The options of a code. Reading throws InvalidInput, naming the option, for what is missing, is
/// out of its limits, or contradicts another option of the verb.
void declare_own_code(OptionList& options, OwnCode& code);

/// Of a run of so many steps.
[[nodiscard]] LabReport own_code_report(const OwnCode& code, Dtype dtype, std::int64_t iterations,
                                        const AssumedCard& card);

} // namespace diffbench::bench
