// SPDX-License-Identifier: Apache-2.0
#include "process_memory.hpp"

#include "diffbench/field.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/workers.hpp"
#include "interrupt.hpp"

#include <malloc.h>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr std::int64_t page = 4096;

/// A line such as "VmHWM:     1234 kB" in bytes; 0 when there is none.
std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == name) {
      std::int64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// Sets the system's peak back to what is resident (proc(5)). False where that is not allowed.
bool reset_peak() {
  std::ofstream clear_refs("/proc/self/clear_refs");
  clear_refs << "5" << std::flush;
  return clear_refs.good();
}

/// Memory has been given this quickly in this process, so the machine has it in hand at half that
/// rate, too. A hypervisor that has to give it first takes 30 times as long.
constexpr double of_best_rate = 0.5;
/// What is freed need not be what is given next, so one pass may not be enough.
constexpr int most_passes = 4;
/// Seconds after which no further one begins: the user waits.
constexpr double longest_touching = 0.5;
/// For each thread: arrays and buffers begin with a huge page each, and one that the machine has
/// not in hand costs as much as 60 MB that it has.
constexpr std::int64_t most_slack = 8 * static_cast<std::int64_t>(detail::huge_page);

/// Touches `whole` bytes and frees them, on each CPU: it keeps some of what is freed on it, and
/// threads that share a field take their parts. And `slack` bytes more on each. Returns the bytes a
/// second of the slowest.
double touch_and_free(Workers& team, std::int64_t whole, std::int64_t slack) {
  std::vector<AlignedArray<std::byte>> parts;
  parts.reserve(static_cast<std::size_t>(team.count()));
  for (int thread = 0; thread < team.count(); ++thread) {
    parts.emplace_back((thread == 0 ? whole : whole / team.count()) + slack, uninitialised);
  }
  std::vector<double> rates(parts.size());
  team.run([&](int thread) {
    AlignedArray<std::byte>& part = parts[static_cast<std::size_t>(thread)];
    const Stopwatch watch;
    for (std::int64_t i = 0; i < part.size() && !interrupted(); i += page) {
      part.data()[i] = std::byte{1};
    }
    rates[static_cast<std::size_t>(thread)] = static_cast<double>(part.size()) / watch.seconds();
    part = {};
  });
  return std::ranges::min(rates);
}

} // namespace

void start_from_fresh_memory(std::int64_t bytes) {
  ::malloc_trim(0);
  if (bytes < static_cast<std::int64_t>(detail::huge_from)) {
    return; // there is always so much
  }
  static double best_rate = 0;
  const std::int64_t most = available_memory() / 4;
  const std::int64_t whole = std::min(bytes, most);
  try {
    Workers team(usable_cpus());
    const std::int64_t slack = std::min(most_slack, most / team.count());
    const Stopwatch watch;
    bool in_hand = false;
    for (int pass = 0; pass < most_passes && !in_hand && !interrupted(); ++pass) {
      if (pass > 0 && watch.seconds() > longest_touching) {
        break;
      }
      const double rate = touch_and_free(team, whole, slack);
      in_hand = best_rate > 0 && rate > of_best_rate * best_rate;
      best_rate = std::max(best_rate, rate);
    }
  } catch (const std::exception&) { // limits of the process: then it starts from what there is
  }
}

void MemoryWatch::begin() {
  largest_peak_ = std::max(largest_peak_, status_bytes("VmHWM:"));
  // What earlier parts freed and the allocator kept would be used again without showing.
  ::malloc_trim(0);
  resets_ = reset_peak();
  resident_at_begin_ = status_bytes("VmRSS:");
}

void MemoryWatch::start_from_fresh(std::int64_t bytes) {
  largest_peak_ = std::max(largest_peak_, status_bytes("VmHWM:"));
  start_from_fresh_memory(reset_peak() ? bytes : 0);
  reset_peak();
}

std::optional<std::int64_t> MemoryWatch::rise() {
  if (!resets_ || resident_at_begin_ == 0) {
    return std::nullopt;
  }
  return std::max<std::int64_t>(0, status_bytes("VmHWM:") - resident_at_begin_);
}

std::optional<std::int64_t> MemoryWatch::process_peak() {
  const std::int64_t peak = std::max(largest_peak_, status_bytes("VmHWM:"));
  return peak > 0 ? std::optional(peak) : std::nullopt;
}

} // namespace diffbench::bench
