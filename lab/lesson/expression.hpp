// SPDX-License-Identifier: Apache-2.0
// The figure that answers a question, as a lesson's text writes it:
//
//   1e6 * mlp_latency.results[engine=cpu].seconds.median / card.launch_us
//
// Numbers, + - * / and ( ) as usual. A path leads into `diffbench` of a result file. A list on its
// way stands for its elements; [key=value,other=one|another] leaves those where it is so (null is
// what is not there), [0] the first, [-1] the last. Of several figures the first counts;
// least(path) is the least of them, distinct(path) how many different ones there are. An object of
// low and high is a span, and so is card.NAME, a figure of the assumed card as `diffbench advise
// --print-card` names it.
#pragma once

#include "answer.hpp"

#include <string_view>
#include <vector>

namespace diffbench::bench::lesson {

/// Its ends are NaN where the result lacks a part. Figures that are multiplied or divided are taken
/// to be above 0. Throws InvalidInput, naming the place in the text, for what is no expression.
[[nodiscard]] Assumption evaluate(std::string_view expression, const StepResult& result);

/// What is at the path, without what is null. Throws as evaluate().
[[nodiscard]] std::vector<const Value*> values_at(std::string_view path, const StepResult& result);

} // namespace diffbench::bench::lesson
