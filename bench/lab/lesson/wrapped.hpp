// Prose for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace diffbench::bench::lesson {

/// `text` in lines of at most 80 characters, broken between words, without a last newline; from the
/// second one on they begin with `indent` blanks.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent = 0);

} // namespace diffbench::bench::lesson
