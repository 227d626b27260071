// SPDX-License-Identifier: Apache-2.0
// A result of `diffbench transfer` as a machine with a GPU could give it, made up.
#pragma once

#include "transfer/transfer_result.hpp"

namespace diffbench::bench {

/// Three samples of `each` seconds a copy.
inline CopyPoint copy_point(std::int64_t bytes, double each) {
  CopyPoint point{.bytes = bytes, .verified = true, .samples = {}};
  for (const double factor : {1.0, 1.1, 0.9}) {
    point.samples.push_back({.iterations = 100,
                             .seconds = 100 * factor * each,
                             .cpu_seconds = 100 * each,
                             .round = static_cast<int>(point.samples.size())});
  }
  return point;
}

/// t = latency + bytes / bandwidth from 1 KiB to 1 GiB.
inline CopyCurve copy_curve(const char* way, const char* direction, double latency,
                            double bandwidth, int threads = 1) {
  CopyCurve curve{.way = way, .direction = direction, .threads = threads};
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4) {
    curve.points.push_back(copy_point(bytes, latency + static_cast<double>(bytes) / bandwidth));
  }
  return curve;
}

inline TransferResult sample_transfer() {
  TransferResult result;
  result.host = {
      .caches = {.l1d = 48 << 10, .l2 = 1 << 20, .l3 = 32 << 20},
      .threads = 8,
      .curves = {copy_curve("loop", "host", 0, 20e9), copy_curve("memcpy", "host", 1e-9, 20e9),
                 copy_curve("streaming", "host", 1e-8, 25e9),
                 copy_curve("memcpy", "host", 1e-8, 80e9, 8),
                 copy_curve("streaming", "host", 1e-8, 90e9, 8)}};
  DeviceCopies device{.name = "Imaginary GPU",
                      .copy_engines = 2,
                      .link = {.address = "0000:3b:00.0",
                               .gigatransfers = 16,
                               .width = 16,
                               .max_gigatransfers = 16,
                               .max_width = 16},
                      .curves = {},
                      .pinning = {}};
  for (const char* direction : {"h2d", "d2h", "both"}) {
    device.curves.push_back(copy_curve("pageable", direction, 10e-6, 10e9));
    device.curves.push_back(copy_curve("pinned", direction, 8e-6, 25e9));
  }
  device.curves.push_back({.way = "managed",
                           .direction = "h2d",
                           .threads = 1,
                           .points = {},
                           .failure = "the device cannot"});
  for (const CopyPoint& point : device.curves.front().points) {
    const double seconds = static_cast<double>(point.bytes) / 2e9;
    device.pinning.push_back({.bytes = point.bytes,
                              .allocate = 50e-6 + seconds,
                              .free = 20e-6,
                              .lock = 30e-6 + seconds,
                              .unlock = 10e-6});
  }
  result.device = device;
  return result;
}

} // namespace diffbench::bench
