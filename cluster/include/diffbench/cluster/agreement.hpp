// Errors that all ranks share: what failed on one rank is thrown on all, so that none of them waits
// for a rank that has given up.
#pragma once

#include "diffbench/cluster/transport.hpp"

#include <functional>

namespace diffbench::cluster {

/// Collective: runs `step`, then asks whether it threw anywhere. If so, the error of the lowest
/// such rank is thrown on all: InvalidInput as such, anything else as Error, and naming the rank
/// where there are several. TimedOut and Ended leave at once, since the others cannot be asked any
/// more. Without a transport (null) there is one rank, and its error passes as it is.
void collectively(Transport* transport, const std::function<void()>& step);

} // namespace diffbench::cluster
