// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/thread_transport.hpp"
#include "diffbench/errors.hpp"

#include <gtest/gtest.h>

namespace diffbench::cluster {
namespace {

TEST(EmulatedNetwork, IsReadAndWrittenAlike) {
  for (const char* text :
       {"10us,25GB/s", "1ms,1GB/s", "0ns,100GB/s", "1.5us,800MB/s", "2s,1MB/s"}) {
    EXPECT_EQ(to_string(parse_network(text)), text);
  }
  EXPECT_DOUBLE_EQ(parse_network("10us,25GB/s").latency_seconds, 1e-5);
  EXPECT_DOUBLE_EQ(parse_network("10us,25GB/s").bytes_per_second, 25e9);
  for (const char* text :
       {"", "10us", "10us,", ",25GB/s", "10,25GB/s", "10us,25", "10us,0GB/s", "-1us,25GB/s",
        "nanus,25GB/s", "infus,25GB/s", "10us,25GB/s,", "10us 25GB/s", "61s,1GB/s", "1e300s,1GB/s",
        "10us,25Gb/s", "10us,infGB/s"}) {
    EXPECT_THROW((void)parse_network(text), InvalidInput) << text;
  }
}

} // namespace
} // namespace diffbench::cluster
