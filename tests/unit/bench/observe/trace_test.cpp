// SPDX-License-Identifier: Apache-2.0
// The timeline on a clock of the test's own.
#include "trace.hpp"

#include "fake_session.hpp"
#include "result_file.hpp"
#include "timed_solve.hpp"
#include "timing.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;

enum Track { host, h2d, compute, d2h };

struct Event {
  std::string name;
  double begin; ///< microseconds
  double end;

  bool operator==(const Event&) const = default;
  friend void PrintTo(const Event& event, std::ostream* out) {
    *out << event.name << " [" << event.begin << ", " << event.end << "]";
  }
};

/// Fails the test where two events overlap and neither is inside the other, as a viewer sees them:
/// in whole nanoseconds.
void expect_nesting(const std::vector<Event>& events) {
  std::vector<std::int64_t> ends;
  std::int64_t last = 0;
  for (const Event& event : events) {
    const std::int64_t begin = std::llround(1000 * event.begin);
    const std::int64_t end = std::llround(1000 * event.end);
    EXPECT_GE(begin, last) << event.name << ": not in the order of their begins";
    EXPECT_GE(end, begin) << event.name;
    last = begin;
    while (!ends.empty() && ends.back() <= begin) {
      ends.pop_back();
    }
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back()) << event.name;
    }
    ends.push_back(end);
  }
}

class TraceTest : public testing::Test {
 protected:
  std::vector<Event> events(Track track) {
    std::vector<Event> found;
    const ordered_json trace = json();
    for (const ordered_json& event : trace["traceEvents"]) {
      if (event["ph"] == "X" && event["tid"] == track) {
        const double begin = event["ts"];
        found.push_back({event["name"], begin, begin + event["dur"].get<double>()});
      }
    }
    expect_nesting(found);
    return found;
  }
  ordered_json json() { return ordered_json::parse(to_text(trace_.to_json("diffbench"))); }
  static void pass(double microseconds) { FakeClock::seconds += 1e-6 * microseconds; }

  void call(const char* name, double microseconds, const PhaseTimes& account) {
    Observed span(trace_, {.kind = Span::Kind::call, .name = name});
    pass(microseconds);
    span.set_account(account);
  }

  static std::int64_t now() { return std::llround(1e9 * FakeClock::seconds); }

  const double start_ = FakeClock::seconds = 5; // small, so that nanoseconds are exact
  static constexpr std::size_t max_calls = 5000;
  TraceRecorder trace_{now, max_calls};
};

TEST_F(TraceTest, SpansAreWhereTheyWere) {
  {
    const Observed stage(trace_, {.kind = Span::Kind::stage, .name = "timing"});
    pass(1);
    const Observed run(trace_,
                       {.kind = Span::Kind::run, .name = "sample", .row = "simd", .steps = 7});
    pass(2);
    const Observed timed(trace_, {.kind = Span::Kind::timed, .name = "steps", .steps = 7});
    pass(4);
  }
  EXPECT_THAT(events(host), ElementsAre(Event{"timing", 0, 7}, Event{"simd: sample", 1, 7},
                                        Event{"7 steps", 3, 7}));
  const ordered_json run = json()["traceEvents"][3];
  EXPECT_EQ(run["args"], (ordered_json{{"row", "simd"}, {"steps", 7}}));
}

TEST_F(TraceTest, TheFirstRunOfARowGivesItItsMoments) {
  const auto run = [&](const char* name, double microseconds) {
    const Observed run(trace_, {.kind = Span::Kind::run, .name = name, .row = "cuda"});
    {
      const Observed upload(trace_, {.kind = Span::Kind::call, .name = "upload"});
      pass(microseconds); // keeps no account
    }
    pass(1);
    call("wait", 4, {.compute = 3e-6, .sync = 1e-6, .compute_busy = 2e-6});
  };
  run("sample", 9);
  run("warm run", 2);
  run("warm run", 7);
  ComparisonResult result;
  result.rows.resize(2);
  result.rows[0].name = "cuda";
  result.rows[1].name = "another";
  trace_.report(result);
  EXPECT_FALSE(result.rows[1].moments);
  ASSERT_TRUE(result.rows[0].moments);
  EXPECT_TRUE(result.rows[0].moments->cold.empty());
  std::vector<std::string> told;
  for (const Moment& moment : result.rows[0].moments->warm) {
    told.push_back(fmt::format("{} {} {:.0f} {:.0f}", moment.lane, moment.phase, 1e6 * moment.begin,
                               1e6 * moment.end));
  }
  EXPECT_THAT(told, ElementsAre("host h2d 0 2", "host compute 3 6", "compute compute 3 5",
                                "host sync 6 7"));
}

TEST_F(TraceTest, MomentsAreTheFirstOfManyOnly) {
  {
    const Observed run(trace_, {.kind = Span::Kind::run, .name = "cold run", .row = "simd"});
    for (int i = 0; i < 1000; ++i) {
      const Observed advance(trace_, {.kind = Span::Kind::call, .name = "advance"});
      pass(1);
    }
  }
  ComparisonResult result;
  result.rows.resize(1);
  result.rows[0].name = "simd";
  trace_.report(result);
  EXPECT_EQ(result.rows[0].moments->cold.size(), 48U);
}

TEST_F(TraceTest, SpansEndWhereSomethingThrows) {
  const auto throws = [&] {
    const Observed stage(trace_, {.kind = Span::Kind::stage, .name = "timing"});
    const Observed call(trace_, {.kind = Span::Kind::call, .name = "wait"});
    pass(3);
    throw std::runtime_error("device lost");
  };
  EXPECT_THROW(throws(), std::runtime_error);
  EXPECT_THAT(events(host), ElementsAre(Event{"timing", 0, 3}, Event{"wait", 0, 3}));
}

// A begin and an end that are rounded apart must not stick out of the event around them.
TEST_F(TraceTest, InnerEventsStayInsideWhateverTheTime) {
  for (int i = 0; i < 2000; ++i) {
    const Observed outer(trace_, {.kind = Span::Kind::stage, .name = "outer"});
    pass(0.001 * (i % 977));
    const Observed inner(trace_, {.kind = Span::Kind::call, .name = "inner"});
    pass(0.001 * (i % 739));
  }
  EXPECT_EQ(events(host).size(), 4000U);
}

TEST_F(TraceTest, AnAccountShowsPhasesOnTheHostAndEnginesOnTheirTracks) {
  trace_.begin({.kind = Span::Kind::run, .name = "warm run", .row = "cuda"});
  call("upload", 10, {.h2d = 10e-6, .h2d_busy = 8e-6});
  call("advance", 2, {.launch = 2e-6});
  call("wait", 20, {.compute = 15e-6, .sync = 5e-6, .compute_busy = 17e-6});
  call("download", 10, {.d2h = 10e-6, .d2h_busy = 6e-6});
  trace_.end(nullptr);
  EXPECT_THAT(events(h2d), ElementsAre(Event{"cuda: copy to the device", 2, 10}));
  EXPECT_THAT(events(compute), ElementsAre(Event{"cuda: compute", 10, 27}));
  EXPECT_THAT(events(d2h), ElementsAre(Event{"cuda: copy to the host", 36, 42}));
  EXPECT_THAT(events(host),
              ElementsAre(Event{"cuda: warm run", 0, 42}, Event{"upload", 0, 10},
                          Event{"h2d", 0, 10}, Event{"advance", 10, 12}, Event{"launch", 10, 12},
                          Event{"wait", 12, 32}, Event{"compute", 12, 27}, Event{"sync", 27, 32},
                          Event{"download", 32, 42}, Event{"d2h", 32, 42}));
}

// By the device's clock more time may have passed than by the host's.
TEST_F(TraceTest, AnAccountThatClaimsTooMuchIsCut) {
  call("upload", 10, {.h2d = 11e-6, .h2d_busy = 12e-6});
  call("upload", 10, {.h2d = 10e-6, .h2d_busy = 12e-6});
  call("advance", 1, {.launch = 1e-6});
  call("wait", 2, {.compute = 3e-6, .sync = 1e-6, .compute_busy = 9e-6});
  call("advance", 1, {.launch = 1e-6});
  call("wait", 2, {.compute = 3e-6, .compute_busy = 9e-6});
  EXPECT_THAT(events(h2d), ElementsAre(Event{": copy to the device", 0, 10},
                                       Event{": copy to the device", 10, 20}));
  EXPECT_THAT(events(compute), ElementsAre(Event{": compute", 20, 23}, Event{": compute", 23, 26}));
  (void)events(host); // nest
}

TEST_F(TraceTest, DeviceTracksAreNamed) {
  Row row;
  row.device = DeviceKind::cuda;
  row.provenance.device = "Toy GPU";
  trace_.first_run_done(row);
  EXPECT_EQ(json()["traceEvents"].size(), 2U); // nothing ran there
  call("upload", 1, {.h2d_busy = 1e-6});
  std::vector<std::string> names;
  const ordered_json trace = json();
  for (const ordered_json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") {
      names.push_back(event["args"]["name"]);
    }
  }
  EXPECT_THAT(names, ElementsAre("diffbench", "host thread", "Toy GPU", "H2D copies", "compute",
                                 "D2H copies"));
}

TEST_F(TraceTest, AnyNameIsValidJson) {
  const std::string name = "\"quoted\" \\ \n \x01 \xff";
  trace_.begin({.kind = Span::Kind::run, .name = "sample", .row = name});
  trace_.end(nullptr);
  EXPECT_EQ(events(host).front().name, "\"quoted\" \\ \n \x01 \xef\xbf\xbd: sample");
}

TEST_F(TraceTest, CallsBeyondTheLimitAreCounted) {
  trace_.begin({.kind = Span::Kind::stage, .name = "timing"});
  for (std::size_t i = 0; i < max_calls + 5; ++i) {
    call("wait", 1, {.compute_busy = 1e-6});
  }
  trace_.end(nullptr);
  EXPECT_EQ(events(host).size(), max_calls + 1);
  EXPECT_EQ(events(compute).size(), max_calls);
  EXPECT_EQ(json()["otherData"]["calls_not_kept"], 5);
}

/// Sessions that somebody listens to measure what others measure.
class ObservedSessionTest : public TraceTest {
 protected:
  ObservedSessionTest() {
    device_.make_seconds = 80;
    device_.upload_seconds = 10;
    device_.step_seconds = 1;
    device_.wait_seconds = 0.5;
    device_.download_seconds = 20;
    device_.has_host_buffer = true;
    wanted = &device_;
    backend_.make_float32 = [](const Problem&,
                               const SessionOptions&) -> std::unique_ptr<Session<float>> {
      return std::make_unique<FakeSession>(*wanted);
    };
  }

  std::pair<FirstRun, Phases> run(Observer& observer) {
    std::vector<float> field(6, 1.0F);
    TimedSession<float, FakeClock> timed({.backend = backend_, .probe = {}}, Problem{}, field,
                                         observer);
    const FirstRun first = timed.first_run(field, 20, 1e6);
    (void)timed.sample(5);
    return {first, timed.full_run(field, 20)};
  }

  static inline FakeDevice* wanted = nullptr; // makers are plain functions
  FakeDevice device_;
  BackendInfo backend_{.name = "fake", .description = ""};
};

TEST_F(ObservedSessionTest, HaveTheSamePhases) {
  for (const bool keeps_account : {false, true}) {
    device_.keeps_account = keeps_account;
    const auto [plain_first, plain_warm] = run(nobody());
    const std::vector<std::string> plain_log = std::exchange(device_.log, {});
    const auto [first, warm] = run(trace_);
    EXPECT_EQ(std::exchange(device_.log, {}), plain_log);
    for (const NamedPhase& phase : named_phases) {
      EXPECT_EQ(first.phases.*phase.member, plain_first.phases.*phase.member) << phase.name;
      EXPECT_EQ(warm.*phase.member, plain_warm.*phase.member) << phase.name;
    }
    EXPECT_DOUBLE_EQ(warm.unexplained, plain_warm.unexplained);
    EXPECT_EQ(warm.busy.has_value(), keeps_account);
  }
  EXPECT_EQ(device_.alive, 0);
}

TEST_F(ObservedSessionTest, TellOfEveryCall) {
  device_.keeps_account = true;
  (void)run(trace_);
  std::vector<std::string> names;
  for (const Event& event : events(host)) {
    names.push_back(event.name);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"make", "context", "alloc", "pin", "upload", "h2d",
                                            "advance", "launch", "wait", "compute", "sync",
                                            "5 steps", "download", "d2h", "free"}));
  double busy = 0;
  for (const Event& event : events(compute)) {
    busy += 1e-6 * (event.end - event.begin);
  }
  EXPECT_NEAR(busy, 20 + 5 + 20, 1e-3);
}

} // namespace
} // namespace diffbench::bench
