// SPDX-License-Identifier: Apache-2.0
// The link between a device and the host: what it is, and what copies over it normally reach.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace diffbench::bench {

/// A PCI Express link as the system describes it; 0 is "not known".
struct PcieLink {
  std::string address;          ///< "0000:3b:00.0"
  double gigatransfers = 0;     ///< a second and lane, now: an idle card saves power with less
  int width = 0;                ///< lanes in use
  double max_gigatransfers = 0; ///< of the device
  int max_width = 0;
};

/// Reads /sys/bus/pci/devices/ADDRESS/{current,max}_link_{speed,width} below `root` (Linux,
/// Documentation/ABI/testing/sysfs-bus-pci); needs no library of the vendor. `address` may have
/// capitals, as CUDA writes it.
[[nodiscard]] PcieLink read_pcie_link(std::string_view address,
                                      const std::filesystem::path& root = "/");

/// 1 to 6 by the rate of a lane (2.5, 5, 8, 16, 32, 64 GT/s); 0 for another rate.
[[nodiscard]] int pcie_generation(double gigatransfers);

/// Bytes a second in one direction, before packets have headers: lanes times rate less the line
/// code, 8b/10b up to generation 2, 128b/130b up to 5 (PCI Express Base Specification 5.0), and of
/// the 256-byte flits of generation 6 the 236 that carry packets (6.0). 0 for an unknown link.
[[nodiscard]] double pcie_peak(double gigatransfers, int width);

/// What large copies normally reach.
struct ExpectedRate {
  double peak = 0; ///< bytes a second in one direction
  double low = 0;
  double high = 0;
  std::string of; ///< "PCIe 4.0 x16"
};
/// Empty where the link is not known. A packet of 128 or 256 bytes of data has 20 to 28 bytes of
/// header, framing and checksum (Intel AN 708, "Understanding PCI Express Throughput"), so at most
/// 256 of 276 bytes are data, 93 %; at least 128 of 156, 82 %, of which acknowledgements and flow
/// control take some more: 75 % is taken for the lower end.
[[nodiscard]] std::optional<ExpectedRate> expected_rate(const PcieLink& link);

/// The link and whether `measured` bytes a second in one direction, the best of large copies, is
/// normal for it; one line.
[[nodiscard]] std::string judge_link(const PcieLink& link, std::string_view device,
                                     std::optional<double> measured);

} // namespace diffbench::bench
