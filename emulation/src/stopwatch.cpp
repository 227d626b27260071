// SPDX-License-Identifier: Apache-2.0
// A program's own stopwatch: what its clocks are read for. A launch returns before the kernel has
// run, so a clock that is read then has timed the launch; and what else is asked for between two
// readings, or two events, is timed, too. Programs are linked with --wrap for these functions
// (judge/cuda).
//
// Which readings start a stopwatch and which stop it: the first one starts it, those of the same
// place do the same each time, and the others the opposite of the reading before them.
#include "code_site.hpp"
#include "grid.hpp"
#include "program.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include <sys/time.h>

namespace diffbench::emulation {
namespace {

/// Where the clock is read, or a time between events asked for; and where that function is called.
using Place = std::pair<std::uint64_t, std::uint64_t>;

struct Reading {
  Place place;
  CodeLine at;
  bool stops = false;
  bool early = false; ///< kernels are under way
  WorkMark mark;
};

/// What a place is for, and the first of what was timed there.
struct Timed {
  bool stops = false;
  bool first = false; ///< launch of that kernel
  std::int64_t samples = 0;
  Launched launched = {};
  CodeLine at = {};
};

std::map<std::string, Reading> last_readings; // by clock
std::map<Place, Timed> places;

Finding found(const std::string& message, const CodeLine& at, const CodeLine& other = {}) {
  return {.kind = FindingKind::stopwatch, .message = message, .at = at, .other = other};
}

std::string counted(std::int64_t n, const std::string& what) {
  return n <= 0 ? "" : "; " + what + " (" + std::to_string(n) + ")";
}

std::string name_of(const Launched& launched) {
  return launched.kernel + ", launched at " + line_of(launched.site) + ",";
}

// What is timed between these two, and should not be.
void judge_work(Runtime& state, const WorkMark& from, const WorkMark& to, const Place& place,
                const CodeLine& at) {
  constexpr std::ptrdiff_t few_launches = 10; // among more the first one counts little
  const auto begin = state.launched.begin() + from.launches;
  const auto end = state.launched.begin() + to.launches;
  if (begin >= end) {
    return; // no kernel is timed
  }
  const std::string others = counted(to.allocations - from.allocations, "allocating and freeing") +
                             counted(to.copies - from.copies, "copies between host and device") +
                             counted(to.files - from.files, "files") +
                             counted(to.printed - from.printed, "printing, in bytes");
  if (!others.empty()) {
    const std::string what = "not only " + name_of(*begin) + " is timed, but also: ";
    state.report(
        found(what + others.substr(2) + ". Do that outside, or say that it is included", at));
  }
  if (end - begin < few_launches) {
    Timed& timed = places[place];
    if (timed.samples++ == 0) {
      timed.launched = *begin;
      timed.first = std::none_of(state.launched.begin(), begin, [&](const Launched& earlier) {
        return earlier.kernel == begin->kernel;
      });
      timed.at = at;
    }
  }
}

void note_reading(const std::string& clock) {
  if (!is_program() || RaceDetector::watching() != nullptr) {
    return;
  }
  const std::lock_guard lock(runtime_mutex());
  if (current_thread()) {
    return;
  }
  Runtime& state = runtime();
  const auto [known, is_first] = last_readings.try_emplace(clock);
  Reading& last = known->second;
  Reading now{.place = {call_site(), call_site(1)}, .at = {}, .mark = state.ledger.done};
  const bool same_place = last.place == now.place;
  // A function of its own that reads the clock is judged where it is called.
  const bool in_function = std::ranges::any_of(places, [&](const auto& other) {
    return other.first.first == now.place.first && other.first.second != now.place.second;
  });
  now.at = code_line_of(in_function ? now.place.second : now.place.first);
  const bool opposite = !is_first && !last.stops;
  const bool usual = places.emplace(now.place, Timed{opposite}).first->second.stops;
  now.stops = same_place ? opposite : usual;
  now.mark.printed = now.stops ? now.mark.printed : std::ftell(stdout);
  const bool seeds = clock == "time" && (is_first || same_place); // srand(time(NULL))
  now.early = state.ledger.kernels_under_way && !state.launched.empty() && !seeds;
  // A first reading may be for another purpose: it is judged at the second one.
  for (Reading* early : {&last, &now}) {
    if (early->early && !is_first) {
      const Launched& launched = state.launched[static_cast<std::size_t>(early->mark.launches) - 1];
      early->early = false;
      state.report(found("the clock is read while " + name_of(launched) +
                             " may still run: nobody has waited for it, so what is timed is its "
                             "launch; cudaDeviceSynchronize() before the clock is read waits",
                         early->at, code_line_of(launched.site)));
    }
  }
  if (now.stops && !last.stops) {
    judge_work(state, last.mark, now.mark, now.place, now.at);
  }
  last = now;
}

} // namespace

void note_launch(Runtime& state, const Stream& stream, std::uint64_t site,
                 const std::string& what) {
  if (is_program()) {
    std::erase_if(state.busy, [&](auto*) { return !state.ledger.kernels_under_way; });
    state.busy.insert(&stream);
    state.launched.push_back({&stream, stream.blocking, site, what});
    if (++state.ledger.done.launches % 1024 == 0 && stream.last) { // a card's queue is full then
      state.run_until_done(stream.last);
    }
    Issued& issued = state.ledger.issued[what];
    issued.last = state.ledger;
    issued.last.migrated = race_detector().migrated();
    issued.first = issued.launches++ == 0 ? issued.last : issued.first;
  }
  state.ledger.kernels_under_way = true;
}

void note_wait(Runtime& state, const Stream* stream, std::ptrdiff_t launches) {
  const bool legacy = stream == &state.device().legacy;
  if (std::none_of(state.launched.begin() + launches, state.launched.end(),
                   [&](const Launched& later) { return legacy || later.stream == stream; })) {
    std::erase_if(state.busy, [&](const Stream* each) { return legacy || each == stream; });
  }
  state.ledger.note_wait();
  state.ledger.kernels_under_way = !state.busy.empty();
}

void judge_events(Runtime& state, const Event& first, const Event& last) {
  if (!is_program() || last.mark.launches <= first.mark.launches) {
    return;
  }
  const auto begin = state.launched.begin();
  const Stream* const legacy = &state.device().legacy;
  const auto is_elsewhere =
      [&](const Launched& launched) { // and nothing of its stream is waited for
        return launched.stream != last.stream && !(last.stream == legacy && launched.blocking) &&
               !(launched.stream == legacy && last.stream->blocking);
      };
  const CodeLine at = code_line_of(call_site());
  if (std::all_of(begin + first.mark.launches, begin + last.mark.launches, is_elsewhere)) {
    const Launched& launched = *(begin + first.mark.launches);
    state.report(found("these events are recorded on another stream than that of " +
                           name_of(launched) +
                           " so it is not timed; cudaEventRecord(event, stream)",
                       at, code_line_of(launched.site)));
  }
  judge_work(state, first.mark, last.mark, {call_site(), call_site(1)}, at);
}

void judge_samples(Runtime& state) {
  for (const bool first : {true, false}) { // of each the first one is told
    const auto timed = std::ranges::find_if(places, [=](const auto& each) {
      return each.second.first == first && (first || each.second.samples == 1);
    });
    if (timed != places.end()) {
      const Launched& launched = timed->second.launched;
      const char* const what =
          first ? " is timed at its first launch, for which a card wakes up: launch it once before"
                : " is timed once, so nobody knows how much the time varies: take several samples";
      state.report(found(name_of(launched) + what, timed->second.at, code_line_of(launched.site)));
    }
  }
}

} // namespace diffbench::emulation

// NOLINTBEGIN: the names are the linker's
#define DIFFBENCH_CLOCK(RESULT, NAME, PARAMETERS, READ) \
  extern "C" RESULT __wrap_##NAME PARAMETERS {          \
    ::diffbench::emulation::note_reading(#NAME);        \
    return READ;                                        \
  }
#define DIFFBENCH_NOW(CLOCK) std::chrono::CLOCK::now().time_since_epoch()
DIFFBENCH_CLOCK(int, gettimeofday, (timeval * time, void* zone),
                ::gettimeofday(time, static_cast<struct timezone*>(zone)))
DIFFBENCH_CLOCK(int, clock_gettime, (clockid_t clock, timespec* time), ::clock_gettime(clock, time))
DIFFBENCH_CLOCK(std::clock_t, clock, (), std::clock())
DIFFBENCH_CLOCK(std::time_t, time, (std::time_t * seconds), ::time(seconds))
DIFFBENCH_CLOCK(double, omp_get_wtime, (),
                std::chrono::duration<double>(DIFFBENCH_NOW(steady_clock)).count())
DIFFBENCH_CLOCK(std::int64_t, _ZNSt6chrono3_V212system_clock3nowEv, (),
                DIFFBENCH_NOW(system_clock).count())
DIFFBENCH_CLOCK(std::int64_t, _ZNSt6chrono3_V212steady_clock3nowEv, (),
                DIFFBENCH_NOW(steady_clock).count())
extern "C" std::FILE* __wrap_fopen(const char* path, const char* mode) {
  ++diffbench::emulation::runtime().ledger.done.files;
  return std::fopen(path, mode);
}
// NOLINTEND
