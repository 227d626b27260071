// SPDX-License-Identifier: Apache-2.0
// What text from outside may hold where it goes to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace diffbench {

/// `text` with what steers a terminal replaced, but for the characters of `kept`: control
/// characters, those of C1 too (U+0080 to U+009F, or such a byte outside UTF-8), which begin
/// sequences as ESC does; marks of direction (U+061C, U+200E and F, U+202A to E, U+2066 to 9),
/// which show a name as another one; other line ends (U+2028, U+2029). Other UTF-8 stays.
[[nodiscard]] std::string without_controls(std::string_view text, char replacement,
                                           std::string_view kept = "");

} // namespace diffbench
