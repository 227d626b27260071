// Which build of the program runs, for what it keeps that depends on its code.
#pragma once

#include <string>

namespace diffbench {

/// One word; another build has another one. "unknown" where the program's file cannot be seen.
[[nodiscard]] std::string build_stamp();

} // namespace diffbench
