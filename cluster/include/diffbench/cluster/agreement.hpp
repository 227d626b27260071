// SPDX-License-Identifier: Apache-2.0
// Errors that all ranks share: what failed on one rank is thrown on all, so that none of them waits
// for a rank that has given up.
#pragma once

#include "diffbench/cluster/transport.hpp"

#include <cstdint>
#include <functional>

namespace diffbench::cluster {

/// Collective: runs `step`, then asks whether it threw anywhere. If so, the error of the lowest
/// such rank is thrown on all: InvalidInput as such, anything else as Error, and naming the rank
/// where there are several. TimedOut and Ended leave at once, since the others cannot be asked any
/// more. Without a transport (null) there is one rank, and its error passes as it is.
///
/// The step is watched: it works with files, of which a library or the system may not come back.
void collectively(Transport* transport, const std::function<void()>& step);

/// Collective: the same for each piece [first, first + count) of [0, size), so that no rank waits
/// for another one's whole share: sizes may differ. The piece is the same on all ranks.
void collectively_in_pieces(
    Transport* transport, std::int64_t size, std::int64_t piece,
    const std::function<void(std::int64_t first, std::int64_t count)>& step);

} // namespace diffbench::cluster
