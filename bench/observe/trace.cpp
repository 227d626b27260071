// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include "diffbench/stopwatch.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr int host_process = 1;
constexpr int device_process = 2;

const char* to_string(Span::Kind kind) {
  switch (kind) {
    case Span::Kind::stage: return "stage";
    case Span::Kind::run: return "run";
    case Span::Kind::timed: return "timed";
    case Span::Kind::call: break;
  }
  return "call";
}

std::string name_of(const Span& span) {
  switch (span.kind) {
    case Span::Kind::run: return fmt::format("{}: {}", span.row, span.name);
    case Span::Kind::timed: return fmt::format("{} steps", span.steps);
    default: return std::string(span.name);
  }
}

std::int64_t nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

/// The format wants microseconds. Whole eighths of one are exact in binary and in nanoseconds, so
/// that begin + duration of an inner event never ends up behind the outer one's by rounding.
double microseconds(std::int64_t nanoseconds) {
  const std::int64_t eighths = nanoseconds / 125;
  return 0.125 * static_cast<double>(eighths);
}

/// The phase of a call of a session that keeps no account; nullptr for any other event.
const char* phase_of(const std::string& call) {
  constexpr std::array<std::pair<const char*, const char*>, 7> phases{{{"make", "alloc"},
                                                                       {"upload", "h2d"},
                                                                       {"advance", "compute"},
                                                                       {"wait", "sync"},
                                                                       {"download", "d2h"},
                                                                       {"start_download", "d2h"},
                                                                       {"free", "free"}}};
  const auto* const found =
      std::ranges::find(phases, call, [](const auto& phase) { return std::string(phase.first); });
  return found == phases.end() ? nullptr : found->second;
}

/// Enough for some round trips, and for a page with dozens of rows.
constexpr std::size_t most_moments = 48;

/// What viewers call a process or a track ("thread").
Value name_event(const char* what, int process, std::size_t track, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}};
}

} // namespace

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch())
      .count();
}

TraceRecorder::TraceRecorder(std::function<std::int64_t()> now, std::size_t max_calls)
    : now_(std::move(now)), max_calls_(max_calls), start_(now_()) {
  // Growing would copy it in the middle of a sample; what is not touched takes no memory.
  events_.reserve(2 * max_calls_);
}

void TraceRecorder::begin(const Span& span) {
  if (span.kind == Span::Kind::run) {
    row_ = span.row;
    work_since_.reset();
  }
  const bool kept = span.kind != Span::Kind::call || ++calls_ <= max_calls_;
  if (kept) {
    events_.push_back({.track = host,
                       .category = to_string(span.kind),
                       .name = name_of(span),
                       .begin = 0,
                       .end = 0,
                       .row = span.kind == Span::Kind::stage ? std::string() : row_,
                       .steps = span.steps});
  }
  const std::int64_t time = now(); // last, so that the above is not in the span
  open_.push_back({span.kind, time, kept ? std::optional(events_.size() - 1) : std::nullopt});
  if (kept) {
    events_.back().begin = time;
  }
  if (span.kind == Span::Kind::call && span.name == "advance" && !work_since_) {
    work_since_ = time;
  }
}

void TraceRecorder::end(const PhaseTimes* account) {
  const std::int64_t time = now();
  const Open span = open_.back();
  open_.pop_back();
  if (!span.event) {
    return;
  }
  events_[*span.event].end = time;
  if (account != nullptr) {
    add_phases(span, *account, time);
    add_engines(span, *account, time);
  }
}

void TraceRecorder::first_run_done(const Row& row) {
  if (row.on_device() && device_.empty()) {
    device_ = row.provenance.device;
  }
}

void TraceRecorder::add_phases(const Open& call, const PhaseTimes& account, std::int64_t end) {
  constexpr std::array<std::pair<const char*, double PhaseTimes::*>, 8> phases{{
      {"context", &PhaseTimes::context},
      {"alloc", &PhaseTimes::alloc},
      {"pin", &PhaseTimes::pin},
      {"launch", &PhaseTimes::launch},
      {"compute", &PhaseTimes::compute},
      {"sync", &PhaseTimes::sync},
      {"h2d", &PhaseTimes::h2d},
      {"d2h", &PhaseTimes::d2h},
  }};
  std::int64_t begin = call.begin;
  for (const auto& [name, member] : phases) {
    const std::int64_t phase_end = std::min(end, begin + nanoseconds(account.*member));
    if (phase_end > begin) {
      events_.push_back({.track = host,
                         .category = "phase",
                         .name = name,
                         .begin = begin,
                         .end = phase_end,
                         .row = row_});
      begin = phase_end;
    }
  }
}

void TraceRecorder::add_engines(const Open& call, const PhaseTimes& account, std::int64_t end) {
  if (account.compute_busy > 0) {
    const std::int64_t begin = work_since_.value_or(call.begin);
    add_engine(compute, "compute", begin, std::min(end, begin + nanoseconds(account.compute_busy)));
    work_since_.reset();
  }
  if (account.h2d_busy > 0) {
    add_engine(h2d, "copy to the device", end - nanoseconds(account.h2d_busy), end);
  }
  if (account.d2h_busy > 0) {
    // Those that ran beside other work began before this call did.
    add_engine(d2h, "copy to the host", end - nanoseconds(account.d2h_busy), end);
  }
}

void TraceRecorder::add_engine(Track track, const char* name, std::int64_t begin,
                               std::int64_t end) {
  begin = std::max(begin, engine_free_[track]);
  engine_free_[track] = std::max(begin, end);
  events_.push_back({.track = track,
                     .category = "engine",
                     .name = fmt::format("{}: {}", row_, name),
                     .begin = begin,
                     .end = engine_free_[track],
                     .row = row_});
}

void TraceRecorder::report(ComparisonResult& result) const {
  for (Row& row : result.rows) {
    RowMoments moments{.cold = this->moments(row.name, "cold run"),
                       .warm = this->moments(row.name, "warm run")};
    if (!moments.cold.empty() || !moments.warm.empty()) {
      row.moments = std::move(moments);
    }
  }
}

std::vector<Moment> TraceRecorder::moments(const std::string& row, std::string_view run) const {
  const std::string name = name_of({.kind = Span::Kind::run, .name = run, .row = row});
  const auto start = std::ranges::find_if(events_, [&](const Event& event) {
    return std::string_view(event.category) == "run" && event.name == name;
  });
  std::vector<Moment> moments;
  if (start == events_.end()) {
    return moments;
  }
  constexpr std::array<const char*, tracks> lanes{"host", "h2d", "compute", "d2h"};
  const auto is_account = [](const Event& event) {
    return std::string_view(event.category) == "phase" || event.track != host;
  };
  for (auto event = start + 1; event != events_.end() && event->begin < start->end &&
                               event->row == row && moments.size() < most_moments;
       ++event) {
    const bool accounted = is_account(*event);
    // A call is told by its account where it has one, which follows it.
    if (!accounted && event + 1 != events_.end() && is_account(*(event + 1))) {
      continue;
    }
    const char* phase = event->track != host ? lanes.at(event->track)
                        : accounted          ? event->name.c_str()
                                             : phase_of(event->name);
    if (phase != nullptr && event->end > event->begin) {
      moments.push_back({.lane = lanes.at(event->track),
                         .phase = phase,
                         .begin = 1e-9 * static_cast<double>(event->begin - start->begin),
                         .end = 1e-9 * static_cast<double>(event->end - start->begin)});
    }
  }
  std::ranges::stable_sort(moments, {}, &Moment::begin);
  return moments;
}

Value TraceRecorder::to_json(const std::string& command) const {
  Value events = Value::list();
  events.push_back(name_event("process_name", host_process, host, "diffbench"));
  events.push_back(name_event("thread_name", host_process, host, "host thread"));
  const bool any_engine =
      std::ranges::any_of(events_, [](const Event& event) { return event.track != host; });
  if (any_engine) {
    events.push_back(name_event("process_name", device_process, h2d,
                                device_.empty() ? std::string("device") : device_));
    events.push_back(name_event("thread_name", device_process, h2d, "H2D copies"));
    events.push_back(name_event("thread_name", device_process, compute, "compute"));
    events.push_back(name_event("thread_name", device_process, d2h, "D2H copies"));
  }
  for (const Event& event : events_) {
    const double begin = microseconds(event.begin);
    Value json = {{"ph", "X"},
                  {"name", event.name},
                  {"cat", event.category},
                  {"pid", event.track == host ? host_process : device_process},
                  {"tid", static_cast<std::size_t>(event.track)},
                  {"ts", begin},
                  {"dur", microseconds(event.end) - begin}};
    if (!event.row.empty()) {
      json["args"]["row"] = event.row;
    }
    if (event.steps > 0) {
      json["args"]["steps"] = event.steps;
    }
    events.push_back(std::move(json));
  }
  const std::size_t dropped = calls_ > max_calls_ ? calls_ - max_calls_ : 0;
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ms"},
          {"otherData",
           {{"command", command}, {"program", version_text()}, {"calls_not_kept", dropped}}}};
}

} // namespace diffbench::bench
