// SPDX-License-Identifier: Apache-2.0
#include "device_lane.hpp"

#include "diffbench/gpu/copy_kernel.hpp"

#include <cstring>

namespace diffbench::bench {

DeviceSide::DeviceSide(int index, std::int64_t bytes)
    : device(index), sent(bytes, uninitialised), arrived(bytes), up(bytes), down(bytes) {
  // No two words alike: a copy that is off by any number of them shows.
  std::uint64_t word = 0;
  for (std::int64_t at = 0; at < bytes; at += sizeof word) {
    word += 0x9e3779b97f4a7c15; // odd, so the period is 2^64
    std::memcpy(sent.data() + at, &word, sizeof word);
  }
}

bool DeviceLane::verify() {
  std::byte* const up = managed() ? host_.up.data() : side_.up.data();
  std::byte* const down = managed() ? host_.down.data() : side_.down.data();
  std::memset(side_.arrived.data(), 0xff, bytes());
  if (!managed()) {
    copy_to_device(side_.up_stream, up, side_.arrived.data(), bytes());
    std::memset(host_.down.data(), 0xff, bytes());
  }
  std::memcpy(host_.up.data(), side_.sent.data(), bytes());
  copy_to_device(side_.down_stream, down, side_.sent.data(), bytes());
  wait();
  issue();
  wait();
  bool right = true;
  if (goes_up()) {
    copy_to_host(side_.up_stream, side_.arrived.data(), up, bytes());
    right = arrived_is_sent();
  }
  if (goes_down()) {
    if (!managed()) { // back to the device, whose memory there is not the one it came from
      copy_to_device(side_.down_stream, side_.up.data(), host_.down.data(), bytes());
      wait();
      copy_to_host(side_.down_stream, side_.arrived.data(), side_.up.data(), bytes());
    } else {
      std::memcpy(side_.arrived.data(), host_.down.data(), bytes());
    }
    right = arrived_is_sent() && right;
  }
  return right;
}

bool DeviceLane::arrived_is_sent() {
  wait();
  const bool same = std::memcmp(side_.arrived.data(), side_.sent.data(), bytes()) == 0;
  std::memset(side_.arrived.data(), 0xff, bytes());
  return same;
}

Sample DeviceLane::sample(std::int64_t copies) {
  double seconds = 0;
  if (managed()) {
    for (std::int64_t i = 0; i < copies; ++i) {
      place_managed();
      seconds += timed(1);
    }
  } else {
    if (copies > 1) {
      issue();
    }
    seconds = timed(copies);
  }
  return {.iterations = copies, .seconds = seconds, .cpu_seconds = std::nullopt};
}

double DeviceLane::timed(std::int64_t copies) {
  side_.up_stream.record(side_.start);
  side_.down_stream.wait_for(side_.start);
  for (std::int64_t i = 0; i < copies; ++i) {
    issue();
  }
  side_.down_stream.record(side_.down_end);
  side_.up_stream.wait_for(side_.down_end);
  side_.up_stream.record(side_.end);
  side_.end.wait();
  return side_.end.seconds_since(side_.start);
}

void DeviceLane::issue() {
  const gpu::HostArray<std::byte>& up = host_.up;
  const gpu::HostArray<std::byte>& down = host_.down;
  if (goes_up()) {
    switch (host_.mode) {
      case Transfer::managed:
        prefetch_to_device(side_.up_stream, up.data(), bytes(), side_.device);
        break;
      case Transfer::mapped:
        copy_by_kernel(side_.up_stream, side_.up.data(), up.device_data(), bytes());
        break;
      default: copy_to_device(side_.up_stream, side_.up.data(), up.data(), bytes());
    }
  }
  if (goes_down()) {
    switch (host_.mode) {
      case Transfer::managed: prefetch_to_host(side_.down_stream, down.data(), bytes()); break;
      case Transfer::mapped:
        copy_by_kernel(side_.down_stream, down.device_data(), side_.down.data(), bytes());
        break;
      default: copy_to_host(side_.down_stream, down.data(), side_.down.data(), bytes());
    }
  }
}

void DeviceLane::place_managed() {
  prefetch_to_host(side_.up_stream, host_.up.data(), bytes());
  prefetch_to_device(side_.down_stream, host_.down.data(), bytes(), side_.device);
  wait();
}

void DeviceLane::wait() {
  side_.up_stream.synchronize();
  side_.down_stream.synchronize();
}

} // namespace diffbench::bench
