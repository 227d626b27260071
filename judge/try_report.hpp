// SPDX-License-Identifier: Apache-2.0
// What `diffbench try` says.
#pragma once

#include "asked_of_card.hpp"
#include "judgement.hpp"
#include "lab_report.hpp"
#include "trial.hpp"

#include <string>

namespace diffbench::bench {

[[nodiscard]] LabReport try_report(const Trial& trial);
/// In one line: "wrong: the edges are not wrapped: ...".
[[nodiscard]] std::string verdict_line(const Judgement& judgement);

} // namespace diffbench::bench
