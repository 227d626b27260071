// SPDX-License-Identifier: Apache-2.0
// What a compiler may see that reads code of somebody else's: an assembler's .incbin reads any
// file, and its name may be put together while it runs.
#pragma once

#include <span>

namespace diffbench::tried {

/// From now on this process, and what it becomes by exec, reads `readable` and what it needs of the
/// system, and writes below `work_dir` (Landlock; nothing is kept from it where the kernel has
/// none). Of a folder it sees what is in it, but for hidden entries and links. A process of root's
/// becomes nobody's, unless only root can read `readable`. Throws nothing.
void confine_compiler(const char* work_dir, std::span<char* const> readable);

} // namespace diffbench::tried
