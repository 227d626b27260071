// SPDX-License-Identifier: Apache-2.0
#include "host_copies.hpp"

#include "copy_rounds.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "host_copy.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace diffbench::bench {

namespace {

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

using Copier = Contender<TimedRow, TeamCopy>;

/// All ways to copy one size, each after a copy that was compared.
std::vector<Copier> verified_copiers(const std::vector<CopyLoop>& ways, CopyArrays& arrays,
                                     std::int64_t bytes) {
  std::vector<Copier> copiers;
  for (const CopyLoop& way : ways) {
    auto copy = std::make_unique<TeamCopy>(*way.team, way.copy, arrays, bytes);
    if (!copy->verify()) {
      throw Error(
          fmt::format("host memory: {} of {} bytes on {} threads left other bytes than it "
                      "was given; test this machine's memory",
                      way.name, bytes, way.team->count()));
    }
    copiers.push_back({.row = {}, .timed = std::move(copy)});
  }
  return copiers;
}

} // namespace

HostCopies measure_host_copies(const std::vector<std::int64_t>& sizes, int threads, CopyTime time,
                               const std::function<bool()>& stop, Progress& progress) {
  progress.stage("host copies");
  CopyArrays arrays(sizes.back());
  Workers one(1);
  Workers all(threads);
  const std::vector<CopyLoop> ways = ways_of(one, all);
  HostCopies copies{.caches = read_caches(), .threads = threads, .curves = {}};
  for (const CopyLoop& way : ways) {
    copies.curves.push_back({.way = way.name, .direction = "host", .threads = way.team->count()});
  }
  CopyDeadline<SteadyClock> deadline(time.limit, time.planned / static_cast<double>(sizes.size()));
  for (std::size_t i = 0; i < sizes.size() && !stop(); ++i) {
    const double seconds = deadline.seconds_for(sizes[i]);
    if (seconds == 0) {
      break;
    }
    std::vector<Copier> copiers = verified_copiers(ways, arrays, sizes[i]);
    sample_copies<SteadyClock>(std::span(copiers), seconds / static_cast<double>(ways.size()),
                               stop);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      if (std::vector<Sample>& samples = copiers[way].row.samples; !samples.empty()) {
        copies.curves[way].points.push_back(
            {.bytes = sizes[i], .verified = true, .samples = std::move(samples)});
      }
    }
    progress.update(static_cast<double>(i + 1) / static_cast<double>(sizes.size()));
  }
  return copies;
}

} // namespace diffbench::bench
