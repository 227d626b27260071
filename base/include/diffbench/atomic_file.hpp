// SPDX-License-Identifier: Apache-2.0
// Output files that are complete or absent.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>

namespace diffbench {

/// Calls `write` with a stream to a temporary file beside `path`, flushes it, and renames it to
/// `path`. When `write` throws, or anything fails (a full disk shows at the flush), the temporary
/// is removed, an earlier `path` is left as it was, and Error says what, where and why. A path that
/// exists and is not a regular file (/dev/stdout, a pipe that has a reader) is written directly.
void write_atomically(const std::filesystem::path& path,
                      const std::function<void(std::ostream&)>& write);

/// The same where `write` opens the temporary file, which is there and empty, itself: one that
/// several processes write. Its errors are passed on as they are.
void replace_atomically(const std::filesystem::path& path,
                        const std::function<void(const std::filesystem::path&)>& write);

} // namespace diffbench
