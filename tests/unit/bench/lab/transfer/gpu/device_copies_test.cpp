// SPDX-License-Identifier: Apache-2.0
// Copies between host and device on the emulation: that the bytes arrive in every mode and
// direction, that nothing has a time, and that every call of the runtime may fail.
#include "transfer/device_copies.hpp"

#include "diffbench/errors.hpp"
#include "transfer/transfer_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <emulation/control.hpp>

#include <sstream>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DeviceCopiesTest : public testing::Test {
 protected:
  DeviceCopiesTest() { emulation::reset(); }

  DeviceCopies measure(const std::vector<std::int64_t>& sizes) {
    std::ostringstream out;
    Progress progress(out, false);
    return measure_device_copies(
        sizes, 0, 0.01, [] { return false; }, progress);
  }
};

TEST_F(DeviceCopiesTest, BytesArriveInEveryModeAndDirection) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    emulation::set_seed(seed);
    const DeviceCopies copies = measure({1024, 4096, 65536});
    EXPECT_TRUE(copies.emulated);
    ASSERT_EQ(copies.curves.size(), 5 * 3U);
    for (const CopyCurve& curve : copies.curves) {
      EXPECT_EQ(curve.failure, "") << curve.way << curve.direction;
      ASSERT_EQ(curve.points.size(), 3U);
      for (const CopyPoint& point : curve.points) {
        EXPECT_TRUE(point.verified) << curve.way << curve.direction << point.bytes;
      }
    }
  }
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
}

TEST_F(DeviceCopiesTest, ACopyByItselfArrivesInEveryModeMappedMemoryToo) {
  for (const Transfer mode : {Transfer::pageable, Transfer::pinned, Transfer::registered,
                              Transfer::mapped, Transfer::write_combined, Transfer::managed}) {
    for (const Direction direction : all_directions) {
      for (const std::int64_t bytes : {16, 1040, 65536}) {
        EXPECT_TRUE(make_device_copy(mode, direction, bytes, 0)->verify())
            << to_string(mode) << to_string(direction) << bytes;
      }
    }
  }
  EXPECT_THAT(emulation::take_reports(), IsEmpty());
  EXPECT_THAT(emulation::live_resources(), IsEmpty());
}

TEST_F(DeviceCopiesTest, ManagedMemoryTheHostMayNotUseIsLeftOut) {
  emulation::DeviceSpec device;
  device.concurrent_managed_access = false;
  emulation::reset({.devices = {device}});
  const DeviceCopies copies = measure({1024});
  EXPECT_EQ(copies.curves.size(), 4 * 3U);
  for (const CopyCurve& curve : copies.curves) {
    EXPECT_EQ(curve.failure, "") << curve.way;
  }
  EXPECT_THROW((void)make_device_copy(Transfer::managed, Direction::h2d, 1024, 0), Unavailable);
  emulation::reset();
}

TEST_F(DeviceCopiesTest, NothingHasATime) {
  const DeviceCopies copies = measure({1024, 4096, 65536});
  EXPECT_THAT(copies.pinning, IsEmpty());
  for (const CopyCurve& curve : copies.curves) {
    for (const CopyPoint& point : curve.points) {
      EXPECT_THAT(point.samples, IsEmpty());
    }
  }
  EXPECT_THAT(format_device_copies(copies), HasSubstr("45 of 45 copies"));
  EXPECT_THAT(format_device_copies(copies), Not(HasSubstr("GB/s")));
}

TEST_F(DeviceCopiesTest, LargeSizesAreLeftOut) {
  const DeviceCopies copies = measure({1024, 1 << 30});
  EXPECT_EQ(copies.curves.front().points.size(), 1U);
}

TEST_F(DeviceCopiesTest, ADeviceThatIsNotThereHasItsReason) {
  EXPECT_TRUE(probe_device_copies(0).available);
  EXPECT_THAT(probe_device_copies(1).reason, HasSubstr("no CUDA device 1"));
  emulation::reset({.driver = false});
  EXPECT_FALSE(probe_device_copies(0).available);
  emulation::reset();
}

/// The whole of it with its k-th call failing, for every k: it ends with one error, or a mode or
/// some of them end with a reason; nothing is called verified that was not, and nothing leaks.
TEST_F(DeviceCopiesTest, AnyCallMayFail) {
  (void)measure({4096}); // what is asked once in a process is known then
  emulation::reset();
  (void)measure({4096});
  const std::int64_t calls = emulation::counters().calls;
  ASSERT_GT(calls, 100);
  for (std::int64_t k = 1; k <= calls; ++k) {
    emulation::reset();
    emulation::fail_call(k, cudaErrorMemoryAllocation);
    try {
      const DeviceCopies copies = measure({4096});
      bool told = emulation::failed_call().find("Free") != std::string::npos ||
                  emulation::failed_call().find("Destroy") != std::string::npos ||
                  emulation::failed_call().find("Unregister") != std::string::npos ||
                  emulation::failed_call() == "cudaStreamSynchronize";
      for (const CopyCurve& curve : copies.curves) {
        EXPECT_EQ(curve.failure.empty(), curve.points.size() == 1) << k;
        told = told || !curve.failure.empty();
      }
      EXPECT_TRUE(told) << k << emulation::failed_call();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("cuda")) << k;
    }
    emulation::clear_faults();
    EXPECT_THAT(emulation::live_resources(), IsEmpty()) << k << emulation::failed_call();
  }
  emulation::reset();
}

} // namespace
} // namespace diffbench::bench
