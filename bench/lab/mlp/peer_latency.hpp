// How long PyTorch takes to answer, call by call, in a process of its own.
#pragma once

#include "latency_study.hpp"

#include <string>

namespace diffbench::bench {

/// As study_latency(), for a peer: the same network, the same rows, the same warm-up, as many
/// calls; each timed by the child's own clock. No misreadings: those are of engines. Throws
/// Unavailable where the peer cannot be started, Error for wrong outputs.
void study_peer_latency(LatencyRow& row, const std::string& peer, int threads,
                        const LatencyJob& job);

} // namespace diffbench::bench
