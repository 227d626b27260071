// SPDX-License-Identifier: Apache-2.0
// Data only, see cpu_guard.hpp.
#include "cpu_guard.hpp"

namespace diffbench::bench {

// A macro that is not defined stringifies to its own name, one that is to "1".
#define DIFFBENCH_IS_ONE(value) (#value)[0] == '1'
#define DIFFBENCH_COMPILED_FOR(name, macro) DIFFBENCH_IS_ONE(macro),
const bool compiled_for[isa_extension_count] = {DIFFBENCH_ISA_EXTENSIONS(DIFFBENCH_COMPILED_FOR)};

} // namespace diffbench::bench
