// SPDX-License-Identifier: Apache-2.0
// A backend in a process of its own, which another one asks for samples. The two speak in lines:
// first the plan, then the digest of the field after the plan's steps, then "sample" and its
// seconds as often as the asking process likes. Its end of the channel being closed ends this one.
#pragma once

#include "step_sides.hpp"

#include <istream>
#include <ostream>
#include <string>
#include <string_view>

namespace diffbench::bench {

/// The only argument of a program that is to serve a row. It is between two processes of one build
/// and no option.
inline constexpr std::string_view serve_row_argument = "--serve-row";

/// The plan of a side, in a line without its end.
[[nodiscard]] std::string plan_line(const std::string& backend, const StepPlan& plan);

/// Answers until `requests` end; what fails is answered by "error" and its words.
void serve_row(std::istream& requests, std::ostream& answers);

} // namespace diffbench::bench
