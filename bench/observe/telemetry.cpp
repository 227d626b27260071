// SPDX-License-Identifier: Apache-2.0
#include "telemetry.hpp"

#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <cstdlib>
#include <stop_token>
#include <utility>

namespace diffbench::bench {

namespace {

/// Mean and largest of the readings that have a value.
class Gauge {
 public:
  void add(const std::optional<double>& value) {
    if (value) {
      sum_ += *value;
      largest_ = count_ == 0 ? *value : std::max(largest_, *value);
      ++count_;
    }
  }
  [[nodiscard]] std::optional<double> mean() const {
    return count_ > 0 ? std::optional(sum_ / count_) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> largest() const {
    return count_ > 0 ? std::optional(largest_) : std::nullopt;
  }

 private:
  double sum_ = 0;
  double largest_ = 0;
  int count_ = 0;
};

void add_to(std::optional<double>& sum, double part) { sum = sum.value_or(0) + part; }

/// Sums the counters; one that failed at any stretch has no sum.
void add_energy(RowTelemetry& row, const std::vector<const TimedStretch*>& stretches, bool on_gpu) {
  std::optional<double> gpu_joules;
  bool cpu = true;
  bool gpu = on_gpu;
  for (const TimedStretch* stretch : stretches) {
    const Counters& begin = stretch->at_begin;
    const Counters& end = stretch->at_end;
    cpu = cpu && begin.cpu && end.cpu;
    if (cpu) {
      const double joules = end.cpu->packages - begin.cpu->packages;
      add_to(row.cpu_joules, joules);
      row.cpu_peak_watts =
          std::max(row.cpu_peak_watts.value_or(0), joules / (stretch->end - stretch->begin));
      if (begin.cpu->dram && end.cpu->dram) {
        add_to(row.dram_joules, *end.cpu->dram - *begin.cpu->dram);
      }
    }
    gpu = gpu && begin.gpu_joules && end.gpu_joules;
    if (gpu) {
      add_to(gpu_joules, *end.gpu_joules - *begin.gpu_joules);
    }
  }
  if (!cpu) {
    row.cpu_joules = row.cpu_peak_watts = row.dram_joules = std::nullopt;
  }
  if (gpu && row.gpu) {
    row.gpu->joules = gpu_joules;
  }
}

RowTelemetry::Gpu summarize_gpu(const std::vector<const TelemetryReading*>& readings,
                                double seconds) {
  Gauge watts, utilization, memory, sm_mhz, memory_mhz, celsius, throttled;
  std::uint64_t reasons = 0;
  for (const TelemetryReading* reading : readings) {
    if (!reading->gpu) {
      continue;
    }
    const GpuReading& gpu = *reading->gpu;
    watts.add(gpu.watts);
    utilization.add(gpu.utilization_percent);
    memory.add(gpu.memory_bytes);
    sm_mhz.add(gpu.sm_mhz);
    memory_mhz.add(gpu.memory_mhz);
    celsius.add(gpu.celsius);
    if (gpu.throttle_reasons) {
      throttled.add(throttle_reasons(*gpu.throttle_reasons).empty() ? 0.0 : 1.0);
      reasons |= *gpu.throttle_reasons;
    }
  }
  RowTelemetry::Gpu gpu{.joules = {},
                        .average_watts = watts.mean(),
                        .peak_watts = watts.largest(),
                        .utilization_percent = utilization.mean(),
                        .memory_bytes = memory.largest(),
                        .sm_mhz = sm_mhz.mean(),
                        .memory_mhz = memory_mhz.mean(),
                        .celsius = celsius.largest(),
                        .throttled_seconds = throttled.mean(),
                        .throttle_reasons = throttle_reasons(reasons)};
  if (gpu.throttled_seconds) {
    *gpu.throttled_seconds *= seconds; // the mean is the share of readings that were
  }
  return gpu;
}

} // namespace

RowTelemetry summarize_telemetry(std::span<const TimedStretch> stretches,
                                 std::span<const TelemetryReading> readings, const std::string& row,
                                 double cells, bool on_gpu) {
  std::vector<const TimedStretch*> own;
  std::vector<const TelemetryReading*> during;
  RowTelemetry result;
  for (const TimedStretch& stretch : stretches) {
    if (stretch.row != row) {
      continue;
    }
    own.push_back(&stretch);
    result.seconds += stretch.end - stretch.begin;
    result.cell_updates += cells * static_cast<double>(stretch.steps);
    for (const TelemetryReading& reading : readings) {
      if (stretch.begin <= reading.time && reading.time <= stretch.end) {
        during.push_back(&reading);
      }
    }
  }
  result.samples = static_cast<int>(own.size());
  result.readings = static_cast<int>(during.size());
  Gauge mhz;
  for (const TelemetryReading* reading : during) {
    mhz.add(reading->cpu_mhz);
  }
  result.cpu_mhz = mhz.mean();
  if (on_gpu) {
    result.gpu = summarize_gpu(during, result.seconds);
  }
  add_energy(result, own, on_gpu);
  if (result.gpu && result.gpu->joules) {
    result.gpu->average_watts = result.watts(*result.gpu->joules); // counted, not sampled
  }
  return result;
}

double Telemetry::steady_seconds() {
  return std::chrono::duration<double>(SteadyClock::now().time_since_epoch()).count();
}

Telemetry::Telemetry(Setup setup)
    : setup_(std::move(setup)), cpu_clock_(setup_.root), cpu_energy_(setup_.root) {
  try {
    gpu_ = std::make_unique<GpuMeter>(setup_.nvml, setup_.device);
  } catch (const std::exception& error) {
    why_no_gpu_ = error.what();
  }
}

void Telemetry::begin(const Span& span) {
  open_.push_back(span.kind);
  if (span.kind == Span::Kind::run) {
    row_ = span.row;
  }
  if (span.kind == Span::Kind::timed) {
    start();
    TimedStretch stretch{.row = row_, .steps = span.steps, .at_begin = read_counters()};
    stretch.begin = setup_.now();
    stretches_.push_back(std::move(stretch));
  }
}

void Telemetry::end(const PhaseTimes* /*account*/) {
  const Span::Kind kind = open_.back();
  open_.pop_back();
  if (kind == Span::Kind::timed) {
    stretches_.back().end = setup_.now();
    stretches_.back().at_end = read_counters();
  } else if (kind == Span::Kind::stage) {
    stop(); // there is nothing to read until rows are timed again
  }
}

void Telemetry::report(ComparisonResult& result) {
  stop();
  result.telemetry = sources();
  for (Row& row : result.rows) {
    if (row.ranked()) {
      row.telemetry = summarize_telemetry(stretches_, readings_, row.name,
                                          static_cast<double>(result.problem.cells()),
                                          row.on_device() && gpu_ != nullptr);
    }
  }
}

void Telemetry::start() {
  if (thread_.joinable()) {
    return;
  }
  thread_ = std::jthread([this](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) {
      take_reading();
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stopped, setup_.period, [] { return false; });
    }
  });
}

void Telemetry::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    thread_ = {};
  }
}

void Telemetry::take_reading() {
  TelemetryReading reading{.time = setup_.now(), .cpu_mhz = cpu_clock_.mhz()};
  if (gpu_) {
    reading.gpu = gpu_->read();
  }
  const std::lock_guard lock(mutex_);
  (void)cpu_energy_.read(); // also during long samples, so that no counter wraps around unseen
  readings_.push_back(reading);
}

Counters Telemetry::read_counters() {
  const std::lock_guard lock(mutex_);
  return {.cpu = cpu_energy_.read(), .gpu_joules = gpu_ ? gpu_->joules() : std::nullopt};
}

TelemetrySources Telemetry::sources() const {
  const std::string& why_no_energy = cpu_energy_.why_not();
  TelemetrySources sources{.period_seconds = std::chrono::duration<double>(setup_.period).count()};
  sources.sources.push_back(
      {"CPU energy", why_no_energy.empty(),
       why_no_energy.empty() ? "powercap, processor packages" : why_no_energy});
  sources.sources.push_back({"CPU clock", cpu_clock_.mhz().has_value(), cpu_clock_.detail()});
  sources.sources.push_back({"GPU", gpu_ != nullptr, gpu_ ? gpu_->description() : why_no_gpu_});
  if (gpu_) {
    for (const auto& [what, reason] : gpu_->failures()) {
      sources.sources.push_back({.name = "GPU " + what, .detail = reason});
    }
  }
  return sources;
}

} // namespace diffbench::bench
