// SPDX-License-Identifier: Apache-2.0
#include "pcie_link.hpp"

#include "context.hpp"
#include "diffbench/text.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct Generation {
  double gigatransfers;
  double data; ///< of what is transferred, line code and flit taken off
};
constexpr std::array<Generation, 6> generations{{
    {2.5, 8.0 / 10},
    {5, 8.0 / 10},
    {8, 128.0 / 130},
    {16, 128.0 / 130},
    {32, 128.0 / 130},
    {64, 236.0 / 256},
}};

constexpr double normal_low = 0.75;
constexpr double normal_high = 256.0 / 276;

/// The number that "16.0 GT/s PCIe" or "16" begins with; 0 for "Unknown".
double leading_number(const std::string& text) {
  return parse_number<double>(text.substr(0, text.find(' '))).value_or(0);
}

bool is_nvlink_c2c(std::string_view device) {
  return std::ranges::any_of(std::array{"GH200", "GB200", "GB300"}, [&](std::string_view name) {
    return device.find(name) != std::string_view::npos;
  });
}

/// NVIDIA Grace Hopper Superchip architecture whitepaper: 900 GB/s, both directions together.
constexpr double nvlink_c2c_peak = 450e9;

std::string gigabytes(double bytes_per_second) {
  return format_figure(1e-9 * bytes_per_second) + " GB/s";
}

std::string link_name(double gigatransfers, int width) {
  return fmt::format("PCIe {}.0 x{}", pcie_generation(gigatransfers), width);
}

/// What a link that is less than the device could have makes of it.
std::string below_maximum(const PcieLink& link) {
  if (pcie_peak(link.max_gigatransfers, link.max_width) <=
      pcie_peak(link.gigatransfers, link.width)) {
    return "";
  }
  return fmt::format("; the device can do {}: look at the slot, riser and BIOS",
                     link_name(link.max_gigatransfers, link.max_width));
}

} // namespace

PcieLink read_pcie_link(std::string_view address, const fs::path& root) {
  PcieLink link{.address = std::string(address)};
  std::ranges::transform(link.address, link.address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const fs::path device = fs::path("sys/bus/pci/devices") / link.address;
  const auto value = [&](const char* name) {
    return leading_number(system_value(root, device / name));
  };
  link.gigatransfers = value("current_link_speed");
  link.width = static_cast<int>(value("current_link_width"));
  link.max_gigatransfers = value("max_link_speed");
  link.max_width = static_cast<int>(value("max_link_width"));
  return link;
}

int pcie_generation(double gigatransfers) {
  const auto* const found =
      std::ranges::find(generations, gigatransfers, &Generation::gigatransfers);
  return found == generations.end() ? 0 : static_cast<int>(found - generations.begin()) + 1;
}

double pcie_peak(double gigatransfers, int width) {
  const int generation = pcie_generation(gigatransfers);
  if (generation == 0 || width <= 0) {
    return 0;
  }
  const Generation& known = generations.at(static_cast<std::size_t>(generation - 1));
  return 1e9 * known.gigatransfers * known.data * width / 8;
}

std::optional<ExpectedRate> expected_rate(const PcieLink& link) {
  const double peak = pcie_peak(link.gigatransfers, link.width);
  if (!(peak > 0)) {
    return std::nullopt;
  }
  return ExpectedRate{.peak = peak,
                      .low = normal_low * peak,
                      .high = normal_high * peak,
                      .of = link_name(link.gigatransfers, link.width)};
}

std::string judge_link(const PcieLink& link, std::string_view device,
                       std::optional<double> measured) {
  if (is_nvlink_c2c(device)) {
    return fmt::format("link: NVLink-C2C, at most {} in each direction{}",
                       gigabytes(nvlink_c2c_peak),
                       measured ? fmt::format("; measured {}, {:.0f} % of it", gigabytes(*measured),
                                              100 * *measured / nvlink_c2c_peak)
                                : "");
  }
  const auto expected = expected_rate(link);
  if (!expected) {
    return fmt::format(
        "link: the system does not report speed and width of {} (sysfs), so its normal rate is "
        "not known",
        link.address.empty() ? "the device" : link.address);
  }
  const std::string range = fmt::format(
      "link: {}, {} in each direction, of which large pinned copies normally reach {} "
      "to {}",
      expected->of, gigabytes(expected->peak), format_figure(1e-9 * expected->low),
      gigabytes(expected->high));
  if (!measured) {
    return range + below_maximum(link);
  }
  const char* verdict = *measured < expected->low     ? "low"
                        : *measured <= expected->peak ? "normal"
                                                      : "more than such a link carries, so the "
                                                        "system describes it wrongly";
  return fmt::format("{}; measured {}: {}{}", range, gigabytes(*measured), verdict,
                     below_maximum(link));
}

} // namespace diffbench::bench
