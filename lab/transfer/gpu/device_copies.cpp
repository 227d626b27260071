// SPDX-License-Identifier: Apache-2.0
#include "transfer/device_copies.hpp"

#include "context.hpp"
#include "copy_rounds.hpp"
#include "device_lane.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/error.hpp"
#include "diffbench/stopwatch.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace diffbench::bench {

namespace {

using DeviceCopier = Contender<TimedRow, DeviceLane>;

/// What a device can copy. Mapped memory is left out: kernels use it over the bus where it is.
std::vector<Transfer> modes_of(const gpu::Device& device) {
  std::vector<Transfer> modes{Transfer::pageable, Transfer::pinned, Transfer::registered,
                              Transfer::write_combined};
  if (device.concurrent_managed_access) {
    modes.push_back(Transfer::managed);
  }
  return modes;
}

/// The emulation looks at every byte; larger copies would show nothing more.
constexpr std::int64_t largest_emulated = 1 << 20;

/// Two memories of each of `modes` and what is sent and what arrived must fit in half of what is
/// free on the host; on the device, copies and managed pages of both directions.
std::vector<std::int64_t> sizes_that_fit(const std::vector<std::int64_t>& sizes,
                                         std::span<const Transfer> modes) {
  const std::int64_t on_host = 2 * std::ssize(modes) + 2;
  constexpr std::int64_t on_device = 4;
  std::int64_t largest =
      std::min(available_memory() / 2 / on_host, gpu::free_memory() / 2 / on_device);
  if (gpu::emulated) {
    largest = std::min(largest, largest_emulated);
  }
  std::vector<std::int64_t> fitting = sizes;
  std::erase_if(fitting, [&](std::int64_t size) { return size > largest; });
  return fitting;
}

double seconds_of(const std::function<void()>& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

/// Medians of a few times each; the memory that is locked has been touched before.
PinningPoint measure_pinning(std::int64_t bytes) {
  constexpr int times = 3;
  AlignedArray<std::byte> ordinary(bytes);
  std::array<std::vector<double>, 4> seconds;
  for (int i = 0; i < times; ++i) {
    std::optional<gpu::PinnedArray<std::byte>> pinned;
    std::optional<gpu::RegisteredRange> lock;
    seconds[0].push_back(seconds_of([&] { pinned.emplace(bytes); }));
    seconds[1].push_back(seconds_of([&] { pinned.reset(); }));
    seconds[2].push_back(
        seconds_of([&] { lock.emplace(ordinary.data(), static_cast<std::size_t>(bytes)); }));
    seconds[3].push_back(seconds_of([&] { lock.reset(); }));
  }
  const auto median = [&](std::size_t i) { return quartiles(seconds.at(i)).median; };
  return {.bytes = bytes,
          .allocate = median(0),
          .free = median(1),
          .lock = median(2),
          .unlock = median(3)};
}

/// Read while copies are under way: a card that has nothing to do slows its link down.
PcieLink read_busy_link(DeviceSide& side) {
  std::array<char, 32> address{};
  DIFFBENCH_CUDA_CHECK(
      cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), side.device));
  constexpr std::int64_t bytes = 64 << 20;
  constexpr int copies = 8;
  const auto size = static_cast<std::size_t>(std::min(bytes, side.up.size()));
  const gpu::PinnedArray<std::byte> host(static_cast<std::int64_t>(size));
  for (int i = 0; i < copies; ++i) {
    copy_to_device(side.up_stream, side.up.data(), host.data(), size);
  }
  PcieLink link = read_pcie_link(address.data());
  side.up_stream.synchronize();
  return link;
}

int copy_engines(int device) {
  int engines = 0;
  DIFFBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, device));
  return engines;
}

/// The experiment: one curve for each mode and direction, filled size by size.
class Measurement {
 public:
  Measurement(DeviceSide& side, std::vector<Transfer> modes, double row_seconds,
              const std::function<bool()>& stop)
      : side_(side), modes_(std::move(modes)), row_seconds_(row_seconds), stop_(stop) {
    for (const Direction direction : all_directions) {
      for (const Transfer mode : modes_) {
        curves_.push_back(
            {.way = std::string(to_string(mode)), .direction = std::string(to_string(direction))});
      }
    }
  }

  void measure(std::int64_t bytes) {
    std::vector<std::unique_ptr<HostMemories>> memories;
    memories.reserve(modes_.size());
    for (const Transfer mode : modes_) {
      memories.push_back(make_memories(mode, bytes));
    }
    for (std::size_t i = 0; i < all_directions.size() && !stop_(); ++i) {
      measure(memories, all_directions.at(i), std::span(curves_).subspan(i * modes_.size()));
    }
  }

  [[nodiscard]] std::vector<CopyCurve> take_curves() { return std::move(curves_); }

 private:
  /// nullptr, with the reason in the mode's curves, where the system does not give such memory.
  std::unique_ptr<HostMemories> make_memories(Transfer mode, std::int64_t bytes) {
    try {
      return std::make_unique<HostMemories>(mode, bytes);
    } catch (const Error& error) {
      for (CopyCurve& curve : curves_) {
        if (curve.way == to_string(mode)) {
          fail(curve, bytes, error.what());
        }
      }
      return nullptr;
    }
  }

  /// The modes of one direction, of which `curves` begins with those.
  void measure(std::span<const std::unique_ptr<HostMemories>> memories, Direction direction,
               std::span<CopyCurve> curves) {
    std::vector<DeviceCopier> copiers;
    std::vector<CopyCurve*> curve_of;
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      if (memories[i] == nullptr || !curves[i].failure.empty()) {
        continue;
      }
      auto lane = std::make_unique<DeviceLane>(*memories[i], direction, side_);
      if (verify(*lane, curves[i], memories[i]->bytes) && !gpu::emulated) {
        copiers.push_back({.row = {}, .timed = std::move(lane)});
        copiers.back().row.device = DeviceKind::cuda;
        curve_of.push_back(&curves[i]);
      }
    }
    sample_copies<SteadyClock>(std::span(copiers), row_seconds_, stop_);
    for (std::size_t i = 0; i < copiers.size(); ++i) {
      TimedRow& row = copiers[i].row;
      curve_of[i]->points.back().samples = std::move(row.samples);
      if (row.failed()) {
        fail(*curve_of[i], curve_of[i]->points.back().bytes, row.reason);
      }
    }
  }

  static bool verify(DeviceLane& lane, CopyCurve& curve, std::int64_t bytes) {
    try {
      const bool verified = lane.verify();
      curve.points.push_back({.bytes = bytes, .verified = verified, .samples = {}});
      if (!verified) {
        fail(curve, bytes, "other bytes arrived than were sent");
      }
      return verified;
    } catch (const Error& error) {
      fail(curve, bytes, error.what());
      return false;
    }
  }

  static void fail(CopyCurve& curve, std::int64_t bytes, std::string_view reason) {
    curve.failure = fmt::format("at {}: {}", format_bytes(bytes), reason);
  }

  DeviceSide& side_;
  std::vector<Transfer> modes_;
  double row_seconds_;
  const std::function<bool()>& stop_;
  std::vector<CopyCurve> curves_;
};

class OwnCopy final : public DeviceCopy {
 public:
  OwnCopy(Transfer mode, Direction direction, std::int64_t bytes, int device)
      : host_(mode, bytes), side_(device, bytes), lane_(host_, direction, side_) {}

  [[nodiscard]] bool verify() override { return lane_.verify(); }
  [[nodiscard]] Sample sample(std::int64_t copies) override { return lane_.sample(copies); }

 private:
  HostMemories host_;
  DeviceSide side_;
  DeviceLane lane_;
};

} // namespace

std::unique_ptr<DeviceCopy> make_device_copy(Transfer mode, Direction direction, std::int64_t bytes,
                                             int device) {
  gpu::require_transfer(mode, gpu::use_device(device));
  const std::int64_t need = (mode == Transfer::managed ? 4 : 2) * bytes;
  if (const std::int64_t free = gpu::free_memory(); need > free) {
    throw Unavailable(fmt::format("needs {} of memory on the GPU, and {} are free",
                                  format_bytes(need), format_bytes(free)));
  }
  return std::make_unique<OwnCopy>(mode, direction, bytes, device);
}

Probe probe_device_copies(int device) noexcept { return gpu::probe_device(device); }

DeviceCopies measure_device_copies(const std::vector<std::int64_t>& sizes, int device,
                                   CopyTime time, const std::function<bool()>& stop,
                                   Progress& progress) {
  progress.stage("copies to and from the GPU");
  const gpu::Device properties = gpu::use_device(device);

  const std::vector<Transfer> modes = modes_of(properties);
  const std::vector<std::int64_t> fitting = sizes_that_fit(sizes, modes);
  if (fitting.empty()) {
    throw Error("the GPU or the host has no memory free for copies of the smallest size");
  }
  DeviceSide side(device, fitting.back());
  DeviceCopies copies{.name = properties.name,
                      .emulated = gpu::emulated,
                      .copy_engines = copy_engines(device),
                      .link = gpu::emulated ? PcieLink{} : read_busy_link(side),
                      .curves = {},
                      .pinning = {}};
  const auto lanes = static_cast<double>(modes.size() * all_directions.size() * fitting.size());
  Measurement measurement(side, modes, time.planned / lanes, stop);
  CopyDeadline<SteadyClock> deadline(time.limit,
                                     time.planned / static_cast<double>(fitting.size()));
  for (std::size_t i = 0; i < fitting.size() && !stop(); ++i) {
    if (!deadline.allows(fitting[i])) {
      copies.ended_by_budget = true;
      break;
    }
    measurement.measure(fitting[i]);
    if (!gpu::emulated) {
      copies.pinning.push_back(measure_pinning(fitting[i]));
    }
    progress.update(static_cast<double>(i + 1) / static_cast<double>(fitting.size()));
  }
  copies.curves = measurement.take_curves();
  return copies;
}

} // namespace diffbench::bench
