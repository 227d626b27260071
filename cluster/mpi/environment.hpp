// SPDX-License-Identifier: Apache-2.0
// What Open MPI is told through the environment before it starts. Other MPIs do not read it, and
// what the user has set stays.
#pragma once

namespace diffbench::cluster {

/// Where more ranks than CPUs run on this machine, those that wait inside MPI (as it starts and
/// ends, and at files) give their CPU away: Open MPI itself does so only if the launcher knows the
/// CPUs, and not the quota of a container. Where the system keeps a process from reading another
/// one's memory (a container without ptrace), large messages go through shared memory at once, and
/// not after a line on stderr for each that failed.
void prepare_environment();

} // namespace diffbench::cluster
