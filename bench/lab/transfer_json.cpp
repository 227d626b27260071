#include "transfer_json.hpp"

#include "diffbench/errors.hpp"
#include "output.hpp"
#include "transfer_figures.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

ordered_json point_json(const CopyPoint& point) {
  ordered_json seconds = ordered_json::array();
  ordered_json rounds = ordered_json::array();
  for (const Sample& sample : point.samples) {
    seconds.push_back(number(sample.seconds));
    rounds.push_back(sample.round);
  }
  const std::optional<double> each = seconds_per_copy(point);
  return {{"bytes", point.bytes},
          {"verified", point.verified},
          {"seconds_per_copy", number(each)},
          {"bytes_per_second",
           each ? number(static_cast<double>(point.bytes) / *each) : ordered_json(nullptr)},
          {"copies_per_sample", point.samples.empty() ? 0 : point.samples.front().iterations},
          {"samples_seconds", std::move(seconds)},
          {"samples_rounds", std::move(rounds)}};
}

ordered_json curves_json(const std::vector<CopyCurve>& curves) {
  ordered_json list = ordered_json::array();
  for (const CopyCurve& curve : curves) {
    ordered_json points = ordered_json::array();
    for (const CopyPoint& point : curve.points) {
      points.push_back(point_json(point));
    }
    list.push_back({{"way", curve.way},
                    {"direction", curve.direction},
                    {"threads", curve.threads},
                    {"failure", curve.failure},
                    {"points", std::move(points)}});
  }
  return list;
}

ordered_json host_json(const HostCopies& host) {
  return {{"caches", {{"l1d", host.caches.l1d}, {"l2", host.caches.l2}, {"l3", host.caches.l3}}},
          {"threads", host.threads},
          {"curves", curves_json(host.curves)}};
}

ordered_json fits_json(const DeviceCopies& device) {
  ordered_json list = ordered_json::array();
  for (const CopyCurve& curve : device.curves) {
    if (const auto fit = fit_curve(curve)) {
      list.push_back({{"way", curve.way},
                      {"direction", curve.direction},
                      {"latency_seconds", number(fit->latency)},
                      {"bytes_per_second", number(fit->bytes_per_second)},
                      {"half_bandwidth_bytes", number(fit->half_bandwidth_bytes())},
                      {"median_residual", number(fit->median_residual)},
                      {"worst_residual", number(fit->worst_residual)},
                      {"worst_bytes", fit->worst_bytes}});
    }
  }
  return list;
}

ordered_json copies_to_pay(const DeviceCopies& device, std::string_view mode, std::int64_t bytes,
                           double cost) {
  const auto saved = saved_by_locking(device, mode, bytes);
  return saved ? number(uses_to_pay(cost, *saved)) : ordered_json(nullptr);
}

ordered_json device_json(const DeviceCopies& device) {
  ordered_json pinning = ordered_json::array();
  for (const PinningPoint& point : device.pinning) {
    pinning.push_back({{"bytes", point.bytes},
                       {"allocate_seconds", number(point.allocate)},
                       {"free_seconds", number(point.free)},
                       {"lock_seconds", number(point.lock)},
                       {"unlock_seconds", number(point.unlock)},
                       {"copies_to_pay_allocate",
                        copies_to_pay(device, "pinned", point.bytes, point.allocate + point.free)},
                       {"copies_to_pay_lock", copies_to_pay(device, "registered", point.bytes,
                                                            point.lock + point.unlock)}});
  }
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
          {"fits", fits_json(device)},
          {"pinning", std::move(pinning)}};
}

// --- reading back: nothing about a file is taken for granted -------------------------------------

/// What a terminal may be shown, whatever the file holds.
std::string text(const ordered_json& json) { return one_line(json.get<std::string>()); }

double duration(const ordered_json& json) {
  const double seconds = json.get<double>();
  if (!(seconds > 0)) {
    throw InvalidInput(fmt::format("{} is no time in seconds", seconds));
  }
  return seconds;
}

std::int64_t count(const ordered_json& json, std::int64_t least,
                   std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  if (!json.is_number_integer() || json.get<std::int64_t>() < least ||
      json.get<std::int64_t>() > most) {
    throw InvalidInput(
        fmt::format("{} is no whole number from {} to {}", one_line(json.dump()), least, most));
  }
  return json.get<std::int64_t>();
}

int small_count(const ordered_json& json, int least) {
  return static_cast<int>(count(json, least, max_threads));
}

CopyPoint read_point(const ordered_json& json) {
  CopyPoint point{.bytes = count(json.at("bytes"), 1),
                  .verified = json.at("verified").get<bool>(),
                  .samples = {}};
  const ordered_json& rounds = json.at("samples_rounds");
  for (const ordered_json& seconds : json.at("samples_seconds")) {
    point.samples.push_back({.iterations = count(json.at("copies_per_sample"), 1),
                             .seconds = duration(seconds),
                             .cpu_seconds = std::nullopt,
                             .round = small_count(rounds.at(point.samples.size()), 0)});
  }
  return point;
}

std::vector<CopyCurve> read_curves(const ordered_json& json) {
  std::vector<CopyCurve> curves;
  for (const ordered_json& entry : json.at("curves")) {
    CopyCurve curve{.way = text(entry.at("way")),
                    .direction = text(entry.at("direction")),
                    .threads = small_count(entry.at("threads"), 1),
                    .points = {},
                    .failure = text(entry.at("failure"))};
    for (const ordered_json& point : entry.at("points")) {
      curve.points.push_back(read_point(point));
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

DeviceCopies read_device(const ordered_json& json) {
  const ordered_json& link = json.at("link");
  DeviceCopies device{
      .name = text(json.at("name")),
      .emulated = json.at("emulated").get<bool>(),
      .copy_engines = small_count(json.at("copy_engines"), 0),
      .link = {.address = text(link.at("address")),
               .gigatransfers = link.at("gigatransfers_per_second").get<double>(),
               .width = small_count(link.at("width"), 0),
               .max_gigatransfers = link.at("max_gigatransfers_per_second").get<double>(),
               .max_width = small_count(link.at("max_width"), 0)},
      .curves = read_curves(json),
      .pinning = {}};
  for (const ordered_json& point : json.at("pinning")) {
    device.pinning.push_back({.bytes = count(point.at("bytes"), 1),
                              .allocate = duration(point.at("allocate_seconds")),
                              .free = duration(point.at("free_seconds")),
                              .lock = duration(point.at("lock_seconds")),
                              .unlock = duration(point.at("unlock_seconds"))});
  }
  return device;
}

/// As bench/suites names them; with the number of threads at the end where it is not one, as Google
/// Benchmark does.
std::string series_name(const CopyCurve& curve, std::int64_t bytes) {
  return fmt::format("transfer/{}/{}/{}{}", curve.direction, curve.way, bytes,
                     curve.threads > 1 ? fmt::format("/threads:{}", curve.threads) : "");
}

void append_series(std::vector<SampleSeries>& series, const std::vector<CopyCurve>& curves) {
  for (const CopyCurve& curve : curves) {
    for (const CopyPoint& point : curve.points) {
      if (!point.samples.empty()) {
        series.push_back(
            {.name = series_name(curve, point.bytes),
             .threads = curve.threads,
             .samples = point.samples,
             .per_iteration = {{"bytes_per_second", static_cast<double>(point.bytes)}}});
      }
    }
  }
}

} // namespace

ordered_json to_json(const TransferResult& result) {
  return {{"host", host_json(result.host)},
          {"device", result.device ? device_json(*result.device) : ordered_json(nullptr)},
          {"no_device", result.no_device}};
}

std::vector<SampleSeries> sample_series(const TransferResult& result) {
  std::vector<SampleSeries> series;
  append_series(series, result.host.curves);
  if (result.device) {
    append_series(series, result.device->curves);
  }
  return series;
}

TransferResult transfer_from_json(const ordered_json& json) {
  try {
    const ordered_json& host = json.at("host");
    const ordered_json& caches = host.at("caches");
    TransferResult result{.host = {.caches = {.l1d = count(caches.at("l1d"), 1),
                                              .l2 = count(caches.at("l2"), 1),
                                              .l3 = count(caches.at("l3"), 1)},
                                   .threads = small_count(host.at("threads"), 1),
                                   .curves = read_curves(host)},
                          .device = std::nullopt,
                          .no_device = text(json.at("no_device"))};
    if (const ordered_json& device = json.at("device"); !device.is_null()) {
      result.device = read_device(device);
    }
    return result;
  } catch (const ordered_json::exception& error) {
    // "[json.exception.out_of_range.403] key 'host' not found": what follows the bracket helps.
    const std::string what = one_line(error.what());
    throw InvalidInput(what.substr(what.find("] ") + 2));
  }
}

} // namespace diffbench::bench
