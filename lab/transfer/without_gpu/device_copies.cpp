// SPDX-License-Identifier: Apache-2.0
#include "transfer/device_copies.hpp"

#include "diffbench/errors.hpp"

namespace diffbench::bench {

namespace {
constexpr const char* reason = "not in this build: configure with -DDIFFBENCH_CUDA=toolkit";
} // namespace

Probe probe_device_copies(int /*device*/) noexcept {
  return {.available = false, .reason = reason};
}

DeviceCopies measure_device_copies(const std::vector<std::int64_t>& /*sizes*/, int /*device*/,
                                   CopyTime /*time*/, const std::function<bool()>& /*stop*/,
                                   Progress& /*progress*/) {
  throw Unavailable(reason);
}

std::unique_ptr<DeviceCopy> make_device_copy(Transfer /*mode*/, Direction /*direction*/,
                                             std::int64_t /*bytes*/, int /*device*/) {
  throw Unavailable(reason);
}

} // namespace diffbench::bench
