#include "host_copies.hpp"

#include "copy_rounds.hpp"
#include "cpu_time.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/workers.hpp"
#include "host_copy.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

using Clock = std::chrono::steady_clock;

/// The arrays of all sizes: of a smaller one, the beginning. Page and cache line are aligned alike
/// in both, as in two fields of a solver.
struct Arrays {
  explicit Arrays(std::int64_t bytes) : to(bytes, uninitialised), from(bytes, uninitialised) {
    // No two words alike: a copy that is off by any number of them shows.
    std::uint64_t word = 0;
    for (std::int64_t at = 0; at < bytes; at += sizeof word) {
      word += 0x9e3779b97f4a7c15; // odd, so the period is 2^64
      std::memcpy(from.data() + at, &word, sizeof word);
    }
    std::memset(to.data(), 0, static_cast<std::size_t>(bytes));
  }
  AlignedArray<std::byte> to;
  AlignedArray<std::byte> from;
};

/// A way to copy one size.
class HostLane {
 public:
  HostLane(Workers& team, HostCopy copy, Arrays& arrays, std::int64_t bytes)
      : team_(team), copy_(copy), arrays_(arrays), bytes_(bytes) {}

  /// A copy first that is not timed: what the lane before left in the caches is not this one's. A
  /// copy that is a sample by itself is larger than they are.
  Sample sample(std::int64_t copies) {
    if (copies > 1) {
      run(1);
    }
    const CpuTime cpu;
    const auto start = Clock::now();
    run(copies);
    const double seconds = seconds_since<Clock>(start);
    return {.iterations = copies, .seconds = seconds, .cpu_seconds = cpu.seconds()};
  }

  /// Whether the bytes arrive.
  bool verify() {
    const auto size = static_cast<std::size_t>(bytes_);
    std::memset(arrays_.to.data(), 0xff, size);
    run(1);
    return std::memcmp(arrays_.to.data(), arrays_.from.data(), size) == 0;
  }

 private:
  /// Each thread copies its own part that often, without waiting for the others in between.
  void run(std::int64_t copies) {
    const std::int64_t lines = bytes_ / static_cast<std::int64_t>(field_alignment);
    team_.run([&](int thread) {
      const auto edge = [&](int i) {
        return static_cast<std::size_t>(lines * i / team_.count()) * field_alignment;
      };
      const std::size_t begin = edge(thread);
      const std::size_t size = edge(thread + 1) - begin;
      for (std::int64_t i = 0; i < copies; ++i) {
        copy_(arrays_.to.data() + begin, arrays_.from.data() + begin, size);
      }
    });
  }

  Workers& team_;
  HostCopy copy_;
  Arrays& arrays_;
  std::int64_t bytes_;
};

struct CopyLoop {
  const char* name;
  HostCopy copy;
  Workers* team;
};

std::vector<CopyLoop> ways_of(Workers& one, Workers& all) {
  std::vector<CopyLoop> ways{{"loop", copy_loop, &one}, {"memcpy", copy_plain, &one}};
  if (has_streaming_copy) {
    ways.push_back({"streaming", copy_streaming, &one});
  }
  if (all.count() > 1) {
    ways.push_back({"memcpy", copy_plain, &all});
    if (has_streaming_copy) {
      ways.push_back({"streaming", copy_streaming, &all});
    }
  }
  return ways;
}

/// The lanes of one size, each after a copy that was compared.
std::vector<Lane<HostLane>> verified_lanes(const std::vector<CopyLoop>& ways, Arrays& arrays,
                                           std::int64_t bytes) {
  std::vector<Lane<HostLane>> lanes;
  for (const CopyLoop& way : ways) {
    auto lane = std::make_unique<HostLane>(*way.team, way.copy, arrays, bytes);
    if (!lane->verify()) {
      throw Error(
          fmt::format("host memory: {} of {} bytes on {} threads left other bytes than it "
                      "was given; test this machine's memory",
                      way.name, bytes, way.team->count()));
    }
    lanes.push_back({.contender = std::move(lane), .plan = {}, .samples = {}, .failure = {}});
  }
  return lanes;
}

} // namespace

HostCopies measure_host_copies(const std::vector<std::int64_t>& sizes, int threads, double seconds,
                               const std::function<bool()>& stop, Progress& progress) {
  progress.stage("host copies");
  Arrays arrays(sizes.back());
  Workers one(1);
  Workers all(threads);
  const std::vector<CopyLoop> ways = ways_of(one, all);
  HostCopies copies{.caches = read_caches(), .threads = threads, .curves = {}};
  for (const CopyLoop& way : ways) {
    copies.curves.push_back({.way = way.name, .direction = "host", .threads = way.team->count()});
  }
  const double lane_seconds = seconds / static_cast<double>(sizes.size() * ways.size());
  for (std::size_t i = 0; i < sizes.size() && !stop(); ++i) {
    std::vector<Lane<HostLane>> lanes = verified_lanes(ways, arrays, sizes[i]);
    sample_copies<Clock>(std::span(lanes), lane_seconds, stop);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      if (!lanes[way].samples.empty()) {
        copies.curves[way].points.push_back(
            {.bytes = sizes[i], .verified = true, .samples = std::move(lanes[way].samples)});
      }
    }
    progress.update(static_cast<double>(i + 1) / static_cast<double>(sizes.size()));
  }
  return copies;
}

} // namespace diffbench::bench
