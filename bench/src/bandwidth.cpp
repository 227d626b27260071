#include "bandwidth.hpp"

#include "diffbench/field.hpp"
#include "diffbench/machine.hpp"
#include "host_copy.hpp"
#include "timing.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace diffbench::bench {

namespace {

using Clock = std::chrono::steady_clock;

/// Best seconds of one copy of everything, over repetitions that fill `seconds`.
double best_copy_seconds(HostCopy copy, std::byte* to, const std::byte* from, std::int64_t bytes,
                         int threads, double seconds) {
  const std::int64_t lines = bytes / static_cast<std::int64_t>(field_alignment);
  std::barrier gate(threads + 1);
  std::atomic<bool> more = true;
  auto worker = [&](int index) {
    auto edge = [&](int i) {
      return static_cast<std::size_t>(lines * i / threads) * field_alignment;
    };
    const std::size_t begin = edge(index);
    const std::size_t size = edge(index + 1) - begin;
    for (gate.arrive_and_wait(); more; gate.arrive_and_wait()) {
      copy(to + begin, from + begin, size);
      gate.arrive_and_wait();
    }
  };
  std::vector<std::jthread> workers;
  workers.reserve(static_cast<std::size_t>(threads));
  for (int index = 0; index < threads; ++index) {
    workers.emplace_back(worker, index);
  }
  double best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (int repetition = 0; repetition < 3 || seconds_since<Clock>(begin) < seconds; ++repetition) {
    const auto start = Clock::now();
    gate.arrive_and_wait();
    gate.arrive_and_wait();
    best = std::min(best, seconds_since<Clock>(start));
  }
  more = false;
  gate.arrive_and_wait();
  return best;
}

} // namespace

CopyBandwidth measure_copy_bandwidth(std::int64_t array_bytes, int threads, double seconds) {
  AlignedArray<std::byte> to(array_bytes);
  AlignedArray<std::byte> from(array_bytes);
  // Untouched pages would all be the one page of zeros.
  std::memset(to.data(), 1, static_cast<std::size_t>(array_bytes));
  std::memset(from.data(), 2, static_cast<std::size_t>(array_bytes));
  const double moved = 2 * static_cast<double>(array_bytes);
  auto rate = [&](HostCopy copy) {
    return moved /
           best_copy_seconds(copy, to.data(), from.data(), array_bytes, threads, seconds / 2);
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
