// SPDX-License-Identifier: Apache-2.0
// What was found wrong in a user's code, and what it asked the device for.
#include "canary.hpp"
#include "code_site.hpp"
#include "host_watch.hpp"
#include "program.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <emulation/user_reports.h>

#include <map>
#include <string>
#include <utility>

namespace diffbench::emulation {
namespace {

// What the user's code has made and not given back, by where.
std::map<std::uint64_t, std::pair<std::int64_t, std::string>> held_resources() {
  std::map<std::uint64_t, std::pair<std::int64_t, std::string>> held;
  const auto add = [&held](std::uint64_t made_at, const std::string& what) {
    if (made_at != 0) {
      auto& [count, description] = held[made_at];
      ++count;
      description = what;
    }
  };
  Runtime& state = runtime();
  for (const auto& [data, buffer] : state.memory.live()) {
    add(buffer.made_at, buffer.description());
  }
  for (const auto& [handle, stream] : state.streams) {
    add(stream.made_at, "a stream, made at " + line_of(stream.made_at));
  }
  for (const auto& [handle, event] : state.events) {
    add(event.made_at, "an event, made at " + line_of(event.made_at));
  }
  return held;
}

void find_leaks() {
  Runtime& state = runtime();
  for (const auto& [made_at, held] : held_resources()) {
    if (held.first == 1 && state.solves > 1) {
      continue; // made once, and used by every call
    }
    state.report(
        Finding{.kind = FindingKind::leak,
                .message = held.second + ", was never given back" +
                           (held.first > 1 ? ", " + std::to_string(held.first) + " times" : ""),
                .at = code_line_of(made_at)});
  }
}

void find_unchecked_error() {
  Runtime& state = runtime();
  const UncheckedError unchecked = std::exchange(state.unchecked, {});
  if (unchecked.code != cudaSuccess) {
    state.report(Finding{.kind = FindingKind::unchecked_error,
                         .message = unchecked.call +
                                    " failed: " + cudaGetErrorString(unchecked.code) +
                                    "; nobody asked whether it did",
                         .at = unchecked.at});
  }
}

void find_unfinished_copies(const char* when) {
  Runtime& state = runtime();
  for (const HostUse& use : state.host_uses) {
    if (use.writes && !use.operation->done()) {
      state.report(Finding{.kind = FindingKind::early_read,
                           .message = "the work issued at " + line_of(use.site) +
                                      " writes to the host's memory, and " + when +
                                      " before anybody has waited for it",
                           .at = code_line_of(use.site)});
    }
  }
}

std::string findings_json() {
  std::string json = "[";
  for (const Finding& finding : runtime().findings) {
    json += (json.size() > 1 ? ", " : "") + json_of(finding);
  }
  return json + "]";
}

const Ledger& counted() {
  Ledger& ledger = runtime().ledger;
  ledger.migrated = race_detector().migrated();
  return ledger;
}

} // namespace

void detail::solve_returned() {
  ++runtime().solves;
  find_unfinished_copies("solve returns");
  find_unchecked_error();
  static_cast<void>(runtime().wait_for_all());
}

void detail::report_entry(bool out_of_bounds, const char* message) {
  runtime().report(message, out_of_bounds ? FindingKind::out_of_bounds : FindingKind::misuse);
}

} // namespace diffbench::emulation

using namespace diffbench::emulation;

const char* diffbench_try_findings() {
  const std::lock_guard lock(runtime_mutex());
  find_unfinished_copies("its results are used");
  find_unchecked_error();
  find_leaks();
  static std::string text;
  text = findings_json();
  return text.c_str();
}

const char* diffbench_try_counts() {
  const std::lock_guard lock(runtime_mutex());
  static std::string text;
  text = counted().json();
  return text.c_str();
}

void diffbench_try_only_launches() {
  RaceDetector::disable();
  only_launches = true;
}

void diffbench_try_program_ended(bool by_itself) {
  const std::lock_guard lock(runtime_mutex());
  if (by_itself) {
    find_unfinished_copies("the program ends");
  }
  find_unchecked_error();
  Runtime& state = runtime();
  if (by_itself) {
    judge_samples(state);
    find_leaks();
  }
  state.note(std::string("{\"kind\": \"end\", \"by_itself\": ") + (by_itself ? "true" : "false") +
             ", \"copied\": " + copied_json() + ", \"counts\": " + counted().json() +
             ", \"steps\": " + state.ledger.steps_json() + "}");
}

void diffbench_try_count_traffic() { RaceDetector::count_traffic(true); }

void diffbench_try_reset(std::uint64_t seed, std::uint64_t key) {
  static const std::uint64_t first_key = key;
  if (key != first_key || in_user_image(__builtin_return_address(0))) {
    const std::lock_guard lock(runtime_mutex());
    runtime().report("the code would have the device begin anew", FindingKind::misuse);
    return;
  }
  Settings settings;
  settings.seed = seed;
  // Whoever uses what nobody has written gets other results.
  poison = seed % 2 == 0 ? 0x3f3f'3f3f : 0xffff'ffff;
  reset(settings);
}
