#include "context.hpp"
#include "text_table.hpp"
#include "transfer_figures.hpp"
#include "transfer_report.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace diffbench::bench {

namespace {

std::vector<const CopyCurve*> curves_of(const DeviceCopies& device, std::string_view direction) {
  std::vector<const CopyCurve*> curves;
  for (const CopyCurve& curve : device.curves) {
    if (curve.direction == direction) {
      curves.push_back(&curve);
    }
  }
  return curves;
}

/// The rates of a direction by size and mode; nothing without any.
std::string format_rates(const DeviceCopies& device, std::string_view direction,
                         std::string_view title) {
  TextTable::Cells header{std::string(title)};
  std::set<std::int64_t> sizes;
  const std::vector<const CopyCurve*> curves = curves_of(device, direction);
  for (const CopyCurve* curve : curves) {
    header.push_back(curve->way);
    for (const CopyPoint& point : curve->points) {
      sizes.insert(point.bytes);
    }
  }
  TextTable table(std::move(header));
  for (const std::int64_t bytes : sizes) {
    TextTable::Cells cells{format_bytes(bytes)};
    for (const CopyCurve* curve : curves) {
      const CopyPoint* point = timed_point(*curve, bytes);
      cells.push_back(point == nullptr ? no_value : format_figure(1e-9 * rate_of(*point)));
    }
    table.add(std::move(cells));
  }
  return sizes.empty() ? "" : table.format() + "\n";
}

std::string format_fits(const DeviceCopies& device) {
  TextTable table({"t = latency + bytes / bandwidth", "direction", "latency", "bandwidth",
                   "half of it at", "residual", "worst", "at"});
  bool any = false;
  for (const CopyCurve& curve : device.curves) {
    if (const auto fit = fit_curve(curve)) {
      any = true;
      table.add({curve.way, curve.direction, format_seconds(fit->latency),
                 format_figure(1e-9 * fit->bytes_per_second) + " GB/s",
                 format_bytes(static_cast<std::int64_t>(fit->half_bandwidth_bytes())),
                 fmt::format("{:.1f} %", 100 * fit->median_residual),
                 fmt::format("{:.0f} %", 100 * fit->worst_residual),
                 format_bytes(fit->worst_bytes)});
    }
  }
  return any ? table.format() + "\n" : "";
}

std::string format_copies_to_pay(const std::optional<std::int64_t>& copies) {
  return copies ? std::to_string(*copies) : "never";
}

std::string format_pinning(const DeviceCopies& device) {
  TextTable table(
      {"page-locking", "allocate", "free", "pays after", "lock", "unlock", "pays after"});
  for (const PinningPoint& point : device.pinning) {
    const auto pays = [&](double cost, std::string_view mode) {
      const auto saved = saved_by_locking(device, mode, point.bytes);
      return saved ? format_copies_to_pay(uses_to_pay(cost, *saved)) : no_value;
    };
    table.add({format_bytes(point.bytes), format_seconds(point.allocate),
               format_seconds(point.free), pays(point.allocate + point.free, "pinned"),
               format_seconds(point.lock), format_seconds(point.unlock),
               pays(point.lock + point.unlock, "registered")});
  }
  return device.pinning.empty()
             ? ""
             : table.format() +
                   "pays after: copies to the device, against pageable memory that is there\n\n";
}

/// What was proved, and what went wrong.
std::string format_checks(const DeviceCopies& device) {
  std::size_t all = 0;
  std::size_t verified = 0;
  std::string failures;
  for (const CopyCurve& curve : device.curves) {
    all += curve.points.size();
    verified += static_cast<std::size_t>(std::ranges::count_if(curve.points, &CopyPoint::verified));
    if (!curve.failure.empty()) {
      failures += fmt::format("failed: {} {}: {}\n", curve.way, curve.direction, curve.failure);
    }
  }
  return fmt::format("{} of {} copies (mode, direction, size) brought the bytes that were sent\n{}",
                     verified, all, failures);
}

} // namespace

std::string format_device_copies(const DeviceCopies& device) {
  if (device.emulated) {
    return fmt::format("{} is an emulation: its copies are verified, and none has a time\n{}",
                       device.name, format_checks(device));
  }
  const CopyCurve* pinned = find_curve(device.curves, "pinned", "h2d");
  return fmt::format(
      "copies between the host and {}, GB/s in each direction (bytes that arrive)\n{}{}{}{}{}{}{}\n"
      "copy engines: {}{}\n",
      device.name, format_rates(device, "h2d", "to the device"),
      format_rates(device, "d2h", "from the device"), format_rates(device, "both", "both at once"),
      format_fits(device), format_pinning(device), format_checks(device),
      judge_link(device.link, device.name, pinned != nullptr ? best_rate(*pinned) : std::nullopt),
      device.copy_engines, device.copy_engines < 2 ? ", so both directions take turns" : "");
}

} // namespace diffbench::bench
