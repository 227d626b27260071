// SPDX-License-Identifier: Apache-2.0
// Which build of the program runs, for what it keeps that depends on its code.
#pragma once

#include <string>

namespace diffbench {

/// One word; another build has another one. "unknown" where the program's file cannot be seen.
[[nodiscard]] std::string build_stamp();

/// One word, the same for copies of one program, wherever and whenever they were installed: a hash
/// of the program's file (FNV-1a, 64 bits), read at the first call only, some ms. Not against
/// forgery. "unknown" where the file cannot be read.
[[nodiscard]] const std::string& build_identity();

} // namespace diffbench
