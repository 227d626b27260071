// SPDX-License-Identifier: Apache-2.0
#include "bandwidth.hpp"

#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "host_copy.hpp"
#include "interrupt.hpp"

#include <algorithm>
#include <limits>

namespace diffbench::bench {

CopyBandwidth measure_copy_bandwidth(std::int64_t array_bytes, int threads, double seconds) {
  CopyArrays arrays(array_bytes);
  Workers team(threads);
  // Of the fastest copy, over repetitions that fill half of the time.
  const auto rate = [&](HostCopy way) {
    TeamCopy copy(team, way, arrays, array_bytes);
    double best = std::numeric_limits<double>::infinity();
    const Stopwatch all;
    for (int repetition = 0; repetition < 3 || all.seconds() < seconds / 2; ++repetition) {
      check_interrupt();
      const Stopwatch one;
      copy.run(1);
      best = std::min(best, one.seconds());
    }
    return 2 * static_cast<double>(array_bytes) / best;
  };
  CopyBandwidth bandwidth{.array_bytes = array_bytes, .threads = threads};
  bandwidth.memcpy_bytes_per_second = rate(copy_plain);
  if (has_streaming_copy) {
    bandwidth.streaming_bytes_per_second = rate(copy_streaming);
  }
  return bandwidth;
}

std::int64_t copy_array_bytes() {
  constexpr std::int64_t mebibyte = 1 << 20;
  return std::clamp<std::int64_t>(2 * read_caches().l3, 32 * mebibyte, 128 * mebibyte);
}

} // namespace diffbench::bench
