// SPDX-License-Identifier: Apache-2.0
#include "transfer_report.hpp"

#include "columns.hpp"
#include "context.hpp"
#include "report_json.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace diffbench::bench {

namespace {

std::string against(const CopyCurve& loop, const CopyPoint* point, std::int64_t bytes) {
  const CopyPoint* base = timed_point(loop, bytes);
  return point != nullptr && base != nullptr
             ? fmt::format("{:.2f}x", rate_of(*point) / rate_of(*base))
             : no_value;
}

/// The rates of a direction by size and way, within the host also where the arrays are; nothing
/// without any.
std::string rates_table(std::string title, const std::vector<CopyCurve>& curves,
                        std::string_view direction, const Caches* caches = nullptr) {
  const CopyCurve* loop = find_curve(curves, "loop", direction);
  const auto has_ratio = [&](const CopyCurve& curve) {
    return loop != nullptr && curve.way == "memcpy" && curve.threads == 1;
  };
  TextTable::Cells header{std::move(title)};
  if (caches != nullptr) {
    header.emplace_back("arrays in");
  }
  std::set<std::int64_t> sizes;
  std::vector<const CopyCurve*> shown;
  for (const CopyCurve& curve : curves) {
    if (curve.direction == direction) {
      shown.push_back(&curve);
      header.push_back(curve.threads > 1 ? fmt::format("{} x{}", curve.way, curve.threads)
                                         : curve.way);
      if (has_ratio(curve)) {
        header.emplace_back("vs loop");
      }
      for (const CopyPoint& point : curve.points) {
        sizes.insert(point.bytes);
      }
    }
  }
  TextTable table(std::move(header));
  for (const std::int64_t bytes : sizes) {
    TextTable::Cells cells{format_bytes(bytes)};
    if (caches != nullptr) {
      cells.emplace_back(held_in(bytes, 1, *caches));
    }
    for (const CopyCurve* curve : shown) {
      const CopyPoint* point = timed_point(*curve, bytes);
      cells.push_back(point == nullptr ? no_value : format_figure(1e-9 * rate_of(*point)));
      if (has_ratio(*curve)) {
        cells.push_back(against(*loop, point, bytes));
      }
    }
    table.add(std::move(cells));
  }
  return sizes.empty() ? "" : table.format();
}

std::string format_agreement(const HostCopies& host) {
  const auto agreement = memcpy_against_loop(host);
  if (!agreement) {
    return "";
  }
  return fmt::format(
      "memcpy against the loop: within {:.0f} % at {} of {} sizes, furthest at {} ({:.2f}x)\n",
      100 * agreement_bar, agreement->within, agreement->sizes,
      format_bytes(agreement->furthest_bytes), agreement->furthest_ratio);
}

struct FittedCurve : LinearCost {
  std::string way, direction;
};

constexpr Column<FittedCurve> fit_columns[] = {
    {"way", "t = latency + bytes / bandwidth", as_text, field<&FittedCurve::way>},
    {"direction", "direction", as_text, field<&FittedCurve::direction>},
    {"latency_seconds", "latency", as_seconds, field<&FittedCurve::latency>},
    {"bytes_per_second", "bandwidth", as_rate, field<&FittedCurve::bytes_per_second>},
    {"half_bandwidth_bytes", "half bandwidth at", as_bytes,
     [](const FittedCurve& fit) -> Value { return fit.half_bandwidth_bytes(); }},
    {"median_residual", "residual",
     [](const Value& error) { return fmt::format("{:.1f} %", 100 * error.number()); },
     field<&FittedCurve::median_residual>},
    {"worst_residual", "worst",
     [](const Value& error) { return fmt::format("{:.0f} %", 100 * error.number()); },
     field<&FittedCurve::worst_residual>},
    {"worst_bytes", "at", as_bytes, field<&FittedCurve::worst_bytes>},
};

std::vector<FittedCurve> fits_of(const DeviceCopies& device) {
  std::vector<FittedCurve> fits;
  for (const CopyCurve& curve : device.curves) {
    if (const auto fit = fit_curve(curve)) {
      fits.push_back({*fit, curve.way, curve.direction});
    }
  }
  return fits;
}

/// Copies after which page-locking is paid for: never where there is no number.
struct Payback {
  bool known = false;
  std::optional<std::int64_t> copies = {};
};

struct PinningLine : PinningPoint {
  Payback allocated, locked;
};

template <auto payback>
std::string payback_cell(const PinningLine& line) {
  const auto& [known, copies] = line.*payback;
  return !known ? no_value : copies ? std::to_string(*copies) : "never";
}

constexpr Column<PinningLine> pinning_columns[] = {
    {"bytes", "page-locking", as_bytes, field<&PinningLine::bytes>},
    {"allocate_seconds", "allocate", as_seconds, field<&PinningLine::allocate>},
    {"free_seconds", "free", as_seconds, field<&PinningLine::free>},
    {"copies_to_pay_allocate", "pays after", as_text,
     field<&PinningLine::allocated, &Payback::copies>, payback_cell<&PinningLine::allocated>},
    {"lock_seconds", "lock", as_seconds, field<&PinningLine::lock>},
    {"unlock_seconds", "unlock", as_seconds, field<&PinningLine::unlock>},
    {"copies_to_pay_lock", "pays after", as_text, field<&PinningLine::locked, &Payback::copies>,
     payback_cell<&PinningLine::locked>},
};

std::vector<PinningLine> pinning_of(const DeviceCopies& device) {
  std::vector<PinningLine> lines;
  for (const PinningPoint& point : device.pinning) {
    const auto payback = [&](std::string_view mode, double cost) {
      const auto saved = saved_by_locking(device, mode, point.bytes);
      return saved ? Payback{true, uses_to_pay(cost, *saved)} : Payback{};
    };
    lines.push_back({point, payback("pinned", point.allocate + point.free),
                     payback("registered", point.lock + point.unlock)});
  }
  return lines;
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
  return fmt::format(
      "{} of {} copies (mode, direction, size) delivered the bytes that were "
      "sent\n{}",
      verified, all, failures);
}

/// With an end of line, unless it is empty.
std::string paragraph(std::string text, const char* below = "\n") {
  return text.empty() ? text : text + below;
}

/// Adds to what says of which curve it is.
Value point_json(const CopyPoint& point, Value json = {}) {
  json["bytes"] = point.bytes;
  json["verified"] = point.verified;
  json["seconds_per_copy"] = seconds_per_copy(point);
  json["width"] = width_json(point.samples);
  json["bytes_per_second"] = point.samples.empty() ? Value() : Value(rate_of(point));
  json["copies_per_sample"] = point.samples.empty() ? 0 : point.samples.front().iterations;
  json["samples_seconds"] = Value::each(point.samples, &Sample::seconds);
  json["samples_rounds"] = Value::each(point.samples, &Sample::round);
  return json;
}

Value curve_json(const CopyCurve& curve) {
  return {{"way", curve.way}, {"direction", curve.direction}, {"threads", curve.threads}};
}

Value curves_json(const std::vector<CopyCurve>& curves) {
  return Value::each(curves, [](const CopyCurve& curve) {
    Value json = curve_json(curve);
    json["failure"] = curve.failure;
    json["points"] =
        Value::each(curve.points, [](const CopyPoint& point) { return point_json(point); });
    return json;
  });
}

Value device_json(const DeviceCopies& device) {
  const PcieLink& link = device.link;
  return {{"name", device.name},
          {"emulated", device.emulated},
          {"copy_engines", device.copy_engines},
          {"link",
           {{"address", link.address},
            {"gigatransfers_per_second", link.gigatransfers},
            {"width", link.width},
            {"max_gigatransfers_per_second", link.max_gigatransfers},
            {"max_width", link.max_width}}},
          {"curves", curves_json(device.curves)},
          {"fits", list_of(fit_columns, fits_of(device))},
          {"pinning", list_of(pinning_columns, pinning_of(device))}};
}

/// The median rate of a curve's points at each level of the memory, innermost first.
std::vector<std::pair<std::string, double>> rates_by_level(const CopyCurve& curve,
                                                           const Caches& caches) {
  std::vector<std::pair<std::string, double>> levels;
  for (const std::string_view level : {"L1", "L2", "L3", "memory"}) {
    std::vector<double> rates;
    for (const CopyPoint& point : curve.points) {
      if (!point.samples.empty() && held_in(point.bytes, curve.threads, caches) == level) {
        rates.push_back(rate_of(point));
      }
    }
    if (!rates.empty()) {
      std::ranges::sort(rates);
      levels.emplace_back(level, rates[rates.size() / 2]);
    }
  }
  return levels;
}

std::string host_sentence(const HostCopies& host) {
  const CopyCurve* copy = find_curve(host.curves, "memcpy", "host");
  if (copy == nullptr || !best_rate(*copy)) {
    return "Nothing was measured.";
  }
  std::vector<std::string> parts;
  for (const auto& [level, rate] : rates_by_level(*copy, host.caches)) {
    parts.push_back(fmt::format("{} GB/s in {}", format_figure(1e-9 * rate), level));
  }
  return fmt::format(
      "memcpy on one thread moves {} here: the cost of a copy depends first on where its bytes "
      "are.",
      fmt::join(parts, ", "));
}

/// By the largest size at which both were measured.
std::string device_sentence(const DeviceCopies& device) {
  const CopyCurve* pageable = find_curve(device.curves, "pageable", "h2d");
  const CopyCurve* pinned = find_curve(device.curves, "pinned", "h2d");
  const auto fit = pinned == nullptr ? std::nullopt : fit_curve(*pinned);
  if (pageable == nullptr || !fit) {
    return "";
  }
  const CopyPoint* slow = nullptr;
  const CopyPoint* fast = nullptr;
  for (const CopyPoint& point : pinned->points) {
    if (const CopyPoint* other = timed_point(*pageable, point.bytes);
        other != nullptr && !point.samples.empty()) {
      slow = other;
      fast = &point;
    }
  }
  if (slow == nullptr) {
    return "";
  }
  return fmt::format(
      " To {}, {} take {} from pinned memory and {} from pageable; below {} a copy's latency of {} "
      "costs more than its bytes.",
      device.name, format_bytes(fast->bytes), format_seconds(*seconds_per_copy(*fast)),
      format_seconds(*seconds_per_copy(*slow)),
      format_bytes(static_cast<std::int64_t>(fit->half_bandwidth_bytes())),
      format_seconds(fit->latency));
}

/// As bench/suites names them; with the number of threads at the end where it is not one, as Google
/// Benchmark does.
std::string series_name(const CopyCurve& curve, std::int64_t bytes) {
  return fmt::format("transfer/{}/{}/{}{}", curve.direction, curve.way, bytes,
                     curve.threads > 1 ? fmt::format("/threads:{}", curve.threads) : "");
}

} // namespace

std::string format_host_copies(const HostCopies& host) {
  return fmt::format(
      "copies within the host's memory, GB/s (bytes that arrive, counted once)\n{}"
      "caches: L1d {} and L2 {} a core, L3 {}; xN: on N threads\n{}",
      rates_table("size", host.curves, "host", &host.caches), format_bytes(host.caches.l1d),
      format_bytes(host.caches.l2), format_bytes(host.caches.l3), format_agreement(host));
}

std::string format_device_copies(const DeviceCopies& device) {
  if (device.emulated) {
    return fmt::format("{} is an emulation: its copies are verified, and none has a time\n{}",
                       device.name, format_checks(device));
  }
  const CopyCurve* pinned = find_curve(device.curves, "pinned", "h2d");
  return fmt::format(
      "copies between the host and {}, GB/s in each direction (bytes that arrive)\n{}{}{}{}{}{}{}\n"
      "copy engines: {}{}\n",
      device.name, paragraph(rates_table("to the device", device.curves, "h2d")),
      paragraph(rates_table("from the device", device.curves, "d2h")),
      paragraph(rates_table("both at once", device.curves, "both")),
      paragraph(format_rows(fit_columns, fits_of(device))),
      paragraph(format_rows(pinning_columns, pinning_of(device)),
                "pays after: so many copies to the device, compared with existing pageable "
                "memory\n\n"),
      format_checks(device),
      judge_link(device.link, device.name, pinned != nullptr ? best_rate(*pinned) : std::nullopt),
      device.copy_engines, device.copy_engines < 2 ? ", so both directions take turns" : "");
}

std::vector<Picture> copy_pictures(const TransferResult& result) {
  const auto rates = [](const char* title, const char* rows) -> Picture {
    return {title, Figure::lines, "bytes", "bytes_per_second", "way direction threads", "xy", rows};
  };
  std::vector<Picture> pictures;
  if (result.device) {
    pictures.push_back(rates("Copies to and from the device, by size", "device.curves.points"));
  }
  pictures.push_back(rates("Copies within the host's memory, by size", "host.curves.points"));
  const Caches& caches = result.host.caches;
  for (const auto& [name, bytes] :
       {std::pair("L1", caches.l1d), std::pair("L2", caches.l2), std::pair("L3", caches.l3)}) {
    if (bytes > 0) { // two arrays of this size fill it
      pictures.back().marks.push_back(
          {.at = static_cast<double>(bytes) / 2, .text = fmt::format("both arrays fill {}", name)});
    }
  }
  return pictures;
}

Value to_json(const TransferResult& result) {
  const Caches& caches = result.host.caches;
  return {{"host",
           {{"caches", {{"l1d", caches.l1d}, {"l2", caches.l2}, {"l3", caches.l3}}},
            {"threads", result.host.threads},
            {"curves", curves_json(result.host.curves)}}},
          {"device", result.device ? device_json(*result.device) : Value()},
          {"no_device", result.no_device}};
}

Value copy_lines(const TransferResult& result) {
  Value lines = Value::list();
  for (const CopyCurve* curve : all_curves(result)) {
    for (const CopyPoint& point : curve->points) {
      lines.push_back(point_json(point, curve_json(*curve)));
    }
  }
  return lines;
}

std::string format_transfer(const TransferResult& result) {
  return format_host_copies(result.host) +
         (result.device
              ? "\n" + format_device_copies(*result.device)
              : fmt::format("\nskipped: copies to and from a GPU: {}\n", result.no_device));
}

std::string transfer_sentence(const TransferResult& result) {
  return host_sentence(result.host) + (result.device ? device_sentence(*result.device) : "");
}

std::vector<SampleSeries> sample_series(const TransferResult& result) {
  std::vector<SampleSeries> series;
  for (const CopyCurve* curve : all_curves(result)) {
    for (const CopyPoint& point : curve->points) {
      if (!point.samples.empty()) {
        series.push_back(
            {.name = series_name(*curve, point.bytes),
             .threads = curve->threads,
             .samples = point.samples,
             .per_iteration = {{"bytes_per_second", static_cast<double>(point.bytes)}}});
      }
    }
  }
  return series;
}

} // namespace diffbench::bench
