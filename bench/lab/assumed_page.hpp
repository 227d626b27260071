// The ways of the assumed cards, for the report page: its What if? and its story predict any run
// from them, as from a profile.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace diffbench::bench {

/// Of each built-in card and dtype: cuda_stream from ordinary memory, and all ways from page-locked
/// one, each at the better and at the worse end of the figures. A grid is a row of numbers: side,
/// seconds of set-up, copy in and copy out, and those of a call of each of "call_steps" steps.
[[nodiscard]] nlohmann::ordered_json assumed_page_data();

} // namespace diffbench::bench
