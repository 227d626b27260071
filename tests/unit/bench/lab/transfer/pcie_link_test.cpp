// SPDX-License-Identifier: Apache-2.0
#include "transfer/pcie_link.hpp"

#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace diffbench::bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* address = "0000:3b:00.0";

/// A machine whose system says so of the device.
class PcieLinkTest : public testing::Test {
 protected:
  void tell(const char* name, const std::string& value) {
    const auto device = root_.path() / "sys/bus/pci/devices" / address;
    std::filesystem::create_directories(device);
    std::ofstream(device / name) << value << '\n';
  }
  PcieLink read() { return read_pcie_link("0000:3B:00.0", root_.path()); }

  TemporaryDirectory root_;
};

TEST_F(PcieLinkTest, ReadsWhatTheKernelWrites) {
  tell("current_link_speed", "16.0 GT/s PCIe");
  tell("current_link_width", "8");
  tell("max_link_speed", "32.0 GT/s PCIe");
  tell("max_link_width", "16");
  const PcieLink link = read();
  EXPECT_EQ(link.address, address);
  EXPECT_EQ(link.gigatransfers, 16);
  EXPECT_EQ(link.width, 8);
  EXPECT_EQ(link.max_gigatransfers, 32);
  EXPECT_EQ(link.max_width, 16);
}

TEST_F(PcieLinkTest, WhatIsNotToldIsNotKnown) {
  EXPECT_FALSE(expected_rate(read())) << "no such device";
  tell("current_link_speed", "Unknown");
  tell("current_link_width", "255");
  EXPECT_FALSE(expected_rate(read()));
  EXPECT_THAT(judge_link(read(), "a GPU", 1e9), HasSubstr("does not report"));
}

TEST(PciePeakTest, IsThatOfTheSpecification) {
  EXPECT_NEAR(pcie_peak(2.5, 16), 4e9, 1);
  EXPECT_NEAR(pcie_peak(5, 16), 8e9, 1);
  EXPECT_NEAR(pcie_peak(8, 16), 15.754e9, 1e6);
  EXPECT_NEAR(pcie_peak(16, 16), 31.508e9, 1e6);
  EXPECT_NEAR(pcie_peak(32, 16), 63.015e9, 1e6);
  EXPECT_NEAR(pcie_peak(16, 4), 7.877e9, 1e6);
  EXPECT_EQ(pcie_peak(12, 16), 0);
  EXPECT_EQ(pcie_peak(16, 0), 0);
}

TEST(JudgeLinkTest, SaysWhetherARateIsNormal) {
  const PcieLink link{.address = address,
                      .gigatransfers = 16,
                      .width = 16,
                      .max_gigatransfers = 16,
                      .max_width = 16};
  EXPECT_THAT(judge_link(link, "a GPU", 26e9), HasSubstr("PCIe 4.0 x16, 31.5 GB/s"));
  EXPECT_THAT(judge_link(link, "a GPU", 26e9), HasSubstr("reach 23.6 to 29.2 GB/s"));
  EXPECT_THAT(judge_link(link, "a GPU", 26e9), EndsWith("measured 26.0 GB/s: normal"));
  EXPECT_THAT(judge_link(link, "a GPU", 12e9), EndsWith("measured 12.0 GB/s: low"));
  EXPECT_THAT(judge_link(link, "a GPU", 50e9), HasSubstr("more than such a link carries"));
  EXPECT_THAT(judge_link(link, "a GPU", {}), Not(HasSubstr("measured")));
}

TEST(JudgeLinkTest, ALinkBelowWhatTheDeviceCanIsPointedOut) {
  const PcieLink link{
      .address = address, .gigatransfers = 8, .width = 4, .max_gigatransfers = 16, .max_width = 16};
  EXPECT_THAT(judge_link(link, "a GPU", 3e9), HasSubstr("the device can do PCIe 4.0 x16"));
}

TEST(JudgeLinkTest, OnGraceHopperTheLinkIsNotPcie) {
  EXPECT_THAT(judge_link({}, "NVIDIA GH200 480GB", 360e9),
              EndsWith("at most 450 GB/s in each direction; measured 360 GB/s, 80 % of it"));
}

} // namespace
} // namespace diffbench::bench
