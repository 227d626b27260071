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
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <sys/time.h>

namespace diffbench::emulation {
namespace {

using Place = std::pair<std::uint64_t, std::uint64_t>; ///< of a reading, and of the call round it

/// What is timed at a place, or by the events at a place.
struct Timed {
  std::int64_t samples = 0;
  std::string kernel;
  std::uint64_t launched = 0; ///< site
  bool first = false;         ///< launch of the kernel: no warm-up
  CodeLine at;
};

struct Reading {
  Place place;
  bool stops = false;
  WorkMark mark;
  std::optional<Finding> early; ///< of a first one, which may be for another purpose
};

enum class HostClock { timeofday, gettime, processor, seconds, openmp, system, steady };

std::map<HostClock, Reading> last_readings;
std::map<Place, bool> stops_at;
std::map<Place, Timed> all_timed; // by where it ends
std::int64_t files_opened = 0;
constexpr std::ptrdiff_t few_launches = 10; // among more the first one counts little

// "2 copies"; nothing where there is none.
std::string counted(std::int64_t n, const std::string& what, const std::string& many) {
  return n == 0 ? "" : "; " + std::to_string(n) + " " + (n == 1 ? what : many);
}

// What is timed between these two, and should not be.
void judge_work(Runtime& state, const WorkMark& from, const WorkMark& to, const Place& place,
                const Finding& where) {
  if (to.launches <= from.launches) {
    return; // no kernel is timed
  }
  const auto begin = state.launched.begin() + from.launches;
  const auto end = state.launched.begin() + to.launches;
  const std::string others =
      counted(to.allocations - from.allocations, "allocation or free", "allocations and frees") +
      counted(to.copies - from.copies, "copy between host and device",
              "copies between host and device") +
      counted(to.files - from.files, "file that is opened", "files that are opened") +
      (to.printed > from.printed ? "; what is printed" : "");
  if (!others.empty()) {
    Finding found = where;
    found.message = "not only " + begin->kernel + ", launched at " + line_of(begin->site) +
                    ", is timed here, but also: " + others.substr(2) +
                    ". Each may take longer than a kernel: do it before the stopwatch starts or "
                    "after it stops, or say that it is included";
    state.report(std::move(found));
  }
  if (end - begin < few_launches) {
    Timed& timed = all_timed[place];
    const auto first = std::find_if(begin, end, [](const Launched& each) { return each.first; });
    const Launched& shown = first == end ? *begin : *first;
    timed = timed.samples > 0 ? timed
                              : Timed{0, shown.kernel, shown.site, first != end, where.at};
    ++timed.samples;
  }
}

Finding still_running(const Launched& last, const CodeLine& at) {
  return {.kind = FindingKind::stopwatch,
          .message = "the clock is read while " + last.kernel + ", launched at " +
                     line_of(last.site) +
                     ", may still run: nobody has waited for it, so what is timed is its launch; "
                     "cudaDeviceSynchronize() before the clock is read waits",
          .at = at,
          .other = code_line_of(last.site)};
}

void note_reading(HostClock clock) {
  if (!is_program() || RaceDetector::watching() != nullptr) {
    return;
  }
  const std::lock_guard lock(runtime_mutex());
  if (current_thread()) {
    return;
  }
  Runtime& state = runtime();
  Reading now{.place = {call_site(), call_site(1)}, .mark = work_mark(state), .early = {}};
  const auto known = last_readings.find(clock);
  const bool is_first = known == last_readings.end();
  const bool same_place = !is_first && known->second.place == now.place;
  // A function of its own that reads the clock is called where that is done.
  const bool in_function = std::ranges::any_of(stops_at, [&](const auto& other) {
    return other.first.first == now.place.first && other.first.second != now.place.second;
  });
  const CodeLine at = code_line_of(in_function ? now.place.second : now.place.first);
  const auto [role, is_new] = stops_at.emplace(now.place, !is_first && !known->second.stops);
  now.stops = same_place ? !known->second.stops : role->second;
  if (!now.stops) {
    now.mark.printed = std::ftell(stdout);
  }
  const bool seeds = clock == HostClock::seconds && (is_first || same_place); // srand(time(NULL))
  if (state.ledger.kernels_under_way && !state.launched.empty() && !seeds) {
    now.early = still_running(state.launched.back(), at);
  }
  if (!is_first) {
    for (std::optional<Finding>* early : {&known->second.early, &now.early}) {
      if (*early) {
        state.report(*std::exchange(*early, std::nullopt));
      }
    }
    if (now.stops && !known->second.stops) {
      judge_work(state, known->second.mark, now.mark, now.place,
                 {.kind = FindingKind::stopwatch, .at = at});
    }
  }
  last_readings[clock] = std::move(now);
}

} // namespace

void note_launch(Runtime& state, const Stream& stream, std::uint64_t site, std::string what) {
  if (is_program()) {
    if (!std::exchange(state.ledger.kernels_under_way, true)) {
      state.busy.clear();
    }
    state.busy.insert(&stream);
    const bool first = state.launched_kernels.insert(what).second;
    state.launched.push_back({&stream, stream.blocking, site, std::move(what), first});
  }
}

void note_wait(Runtime& state, const Stream* stream, std::ptrdiff_t launches) {
  const bool legacy = stream == &state.device().legacy;
  const bool all = std::none_of(
      state.launched.begin() + launches, state.launched.end(),
      [&](const Launched& later) { return legacy || later.stream == stream; });
  if (all && legacy) {
    state.busy.clear();
  } else if (all) {
    state.busy.erase(stream);
  }
  state.ledger.note_wait();
  state.ledger.kernels_under_way = !state.busy.empty();
}

WorkMark work_mark(const Runtime& state) {
  const auto& made = state.ledger.allocations;
  return {.launches = std::ssize(state.launched),
          .allocations = std::accumulate(
              made.begin(), made.end(), state.ledger.frees,
              [](std::int64_t sum, const CopyCount& kind) { return sum + kind.calls; }),
          .copies = state.ledger.large_copies,
          .printed = state.printed,
          .files = files_opened};
}

void judge_events(Runtime& state, const Event& first, const Event& last) {
  if (!is_program() || last.mark.launches <= first.mark.launches) {
    return;
  }
  const auto begin = state.launched.begin();
  const Stream* const legacy = &state.device().legacy;
  const auto is_elsewhere =
      [&](const Launched& launched) { // and nothing of its stream is waited for
        const bool both_wait = (last.stream == legacy && launched.blocking) ||
                               (launched.stream == legacy && last.stream->blocking);
        return launched.stream != last.stream && !both_wait;
      };
  const CodeLine at = code_line_of(call_site());
  if (std::all_of(begin + first.mark.launches, begin + last.mark.launches, is_elsewhere)) {
    const Launched& launched = *(begin + first.mark.launches);
    state.report(
        Finding{.kind = FindingKind::stopwatch,
                .message = "these events are recorded on another stream than that on which " +
                           launched.kernel + " is launched at " + line_of(launched.site) +
                           ": the time between them is not the kernel's; cudaEventRecord(event, "
                           "stream) takes that stream",
                .at = at,
                .other = code_line_of(launched.site)});
  }
  judge_work(state, first.mark, last.mark, {call_site(), call_site(1)},
             {.kind = FindingKind::stopwatch, .at = at});
}

void judge_early_time(Runtime& state) {
  if (is_program()) {
    state.report(Finding{.kind = FindingKind::stopwatch,
                         .message = "the time between two events is asked for before the device has "
                                    "reached them, so there is none yet (cudaErrorNotReady); "
                                    "cudaEventSynchronize() of the second one waits"});
  }
}

void judge_samples(Runtime& state) {
  const auto tell = [&state](const auto& is_it, const std::string& why) {
    const auto found = std::ranges::find_if(
        all_timed, [&](const auto& timed) { return is_it(timed.second); });
    if (found != all_timed.end()) {
      const Timed& timed = found->second;
      state.report(Finding{.kind = FindingKind::stopwatch,
                           .message = timed.kernel + ", launched at " + line_of(timed.launched) + why,
                           .at = timed.at,
                           .other = code_line_of(timed.launched)});
    }
  };
  tell([](const Timed& timed) { return timed.first; },
       ", is timed here at its first launch, for which a card loads its code and wakes up; launch "
       "it once before, and wait (a warm-up)");
  tell([](const Timed& timed) { return !timed.first && timed.samples == 1; },
       ", is timed here once: one sample does not tell how much the time varies; time it several "
       "times, and give the median and the range");
}

} // namespace diffbench::emulation

using diffbench::emulation::HostClock;
using diffbench::emulation::note_reading;

// NOLINTBEGIN: the names are the linker's
extern "C" {
int __wrap_gettimeofday(timeval* time, void* zone) {
  note_reading(HostClock::timeofday);
  return ::gettimeofday(time, static_cast<struct timezone*>(zone));
}
int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  note_reading(HostClock::gettime);
  return ::clock_gettime(clock, time);
}
std::clock_t __wrap_clock() {
  note_reading(HostClock::processor);
  return std::clock();
}
std::time_t __wrap_time(std::time_t* seconds) {
  note_reading(HostClock::seconds);
  return ::time(seconds);
}
double __wrap_omp_get_wtime() {
  note_reading(HostClock::openmp);
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv() {
  note_reading(HostClock::system);
  return std::chrono::system_clock::now().time_since_epoch().count();
}
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  note_reading(HostClock::steady);
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
std::FILE* __wrap_fopen(const char* path, const char* mode) {
  ++diffbench::emulation::files_opened;
  return std::fopen(path, mode);
}
}
// NOLINTEND
