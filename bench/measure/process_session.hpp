// SPDX-License-Identifier: Apache-2.0
// The processes of a session (setsid(2)): whatever groups a shell, timeout(1) or the like has made
// in it. Linux.
#pragma once

#include <sys/types.h>

namespace diffbench::bench {

/// Kills all that are in the session of `leader`, a child that has not been waited for: so its
/// number is no other's. What has begun a session of its own lives on. Blocks until they have
/// ended, a second or two at most.
void kill_session(pid_t leader);

} // namespace diffbench::bench
