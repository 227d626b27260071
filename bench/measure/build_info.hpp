// SPDX-License-Identifier: Apache-2.0
// What the build knows about itself. The values are in a source of their own that the build makes
// (BuildInfo.cmake), so that a new commit compiles nothing else again.
#pragma once

namespace diffbench::bench::build_info {

extern const char* const version;
extern const char* const git_sha;
extern const char* const flags; ///< that shape the code
extern const char* const build_type;
extern const char* const arch;            ///< DIFFBENCH_ARCH
extern const char* const peers_directory; ///< in the source tree

} // namespace diffbench::bench::build_info
