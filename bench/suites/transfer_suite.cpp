// SPDX-License-Identifier: Apache-2.0
// The benchmarks transfer/: copies of 1 KiB to 1 GiB, in the host's memory and between host and
// device. bytes_per_second counts what arrives, once: not, as STREAM does, what is read and what is
// written. The loops on the host are Google Benchmark's own, so that they check those of
// `diffbench transfer`; copies of the device are by its own clock.
#include "diffbench/machine.hpp"
#include "gpu_operations.hpp"
#include "host_copy.hpp"
#include "suite.hpp"
#include "suites.hpp"
#include "transfer/device_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr std::int64_t smallest = 1 << 10;
constexpr std::int64_t largest = 1 << 30;
/// Bytes of a repetition, where a copy is not larger: tens of milliseconds.
constexpr std::int64_t repetition_bytes = 1 << 28;
/// Arrays of that many bytes and more begin at a huge page (field.hpp), so that a short copy does
/// not depend on where the heap has put its arrays.
constexpr std::int64_t pages_of_their_own = 1 << 21;

std::vector<std::int64_t> sizes(std::int64_t last) {
  std::vector<std::int64_t> all;
  for (std::int64_t bytes = smallest; bytes <= last; bytes *= 4) {
    all.push_back(bytes);
  }
  return all;
}

Repetition prepare_host(HostCopy copy, std::int64_t bytes) {
  require_memory("host", 2 * bytes, available_memory());
  const auto size = static_cast<std::size_t>(bytes);
  const auto arrays = std::make_shared<CopyArrays>(std::max(bytes, pages_of_their_own));
  Workers alone(1);
  if (!TeamCopy(alone, copy, *arrays, bytes).verify()) {
    throw WrongResult("the copy is not what was copied");
  }
  return [=](benchmark::State& state) {
    while (state.KeepRunning()) {
      copy(arrays->to.data(), arrays->from.data(), size);
      benchmark::ClobberMemory();
    }
    count_rate(state, "bytes_per_second", static_cast<double>(bytes));
  };
}

void add_host_copies() {
  constexpr std::pair<const char*, HostCopy> copies[] = {{"memcpy", copy_plain},
                                                         {"streaming", copy_streaming}};
  for (const auto& [name, copy] : copies) {
    const std::string base = fmt::format("transfer/host/{}", name);
    if (copy == copy_streaming && !has_streaming_copy) {
      add_skipped(base, "this CPU has no non-temporal stores that the build knows");
      continue;
    }
    for (const std::int64_t bytes : sizes(largest)) {
      add_benchmark(fmt::format("{}/{}", base, bytes),
                    std::max<std::int64_t>(1, repetition_bytes / bytes),
                    [copy = copy, bytes] { return prepare_host(copy, bytes); });
    }
  }
}

Repetition prepare_gpu(Direction direction, Transfer transfer, std::int64_t bytes) {
  require_memory("host", 4 * bytes, available_memory());
  const std::shared_ptr<DeviceCopy> copy = make_device_copy(transfer, direction, bytes, 0);
  if (!copy->verify()) {
    throw WrongResult("the copy is not what was copied");
  }
  const std::int64_t arriving = direction == Direction::both ? 2 * bytes : bytes;
  return gpu_is_emulated() ? Repetition() : [=](benchmark::State& state) {
    take_samples(state, *copy);
    count_rate(state, "bytes_per_second", static_cast<double>(arriving));
  };
}

void add_gpu_copies() {
  constexpr Transfer transfers[] = {Transfer::pageable,       Transfer::pinned,
                                    Transfer::registered,     Transfer::mapped,
                                    Transfer::write_combined, Transfer::managed};
  const Probe probe = probe_gpu();
  for (const Direction direction : all_directions) {
    for (const Transfer transfer : transfers) {
      const std::string base =
          fmt::format("transfer/{}/{}", to_string(direction), to_string(transfer));
      if (!probe.available) {
        add_skipped(base, probe.reason);
        continue;
      }
      // The emulation proves the code; large copies would prove nothing more.
      for (const std::int64_t bytes : sizes(gpu_is_emulated() ? 1 << 20 : largest)) {
        add_benchmark(
            fmt::format("{}/{}", base, bytes),
            std::clamp<std::int64_t>(repetition_bytes / bytes, 3, 1000),
            [direction, transfer, bytes] { return prepare_gpu(direction, transfer, bytes); },
            Clock::samples);
      }
    }
  }
}

} // namespace

void add_copies() {
  add_host_copies();
  add_gpu_copies();
}

} // namespace diffbench::bench
