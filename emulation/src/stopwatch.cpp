// SPDX-License-Identifier: Apache-2.0
// A program's own stopwatch: what its clocks are read for. A launch returns before the kernel has
// run, so a clock that is read then has timed the launch. Programs are linked with --wrap for these
// functions (judge/cuda).
#include "code_site.hpp"
#include "grid.hpp"
#include "program.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"

#include <chrono>
#include <ctime>
#include <string>

#include <sys/time.h>

namespace diffbench::emulation {
namespace {

void note_reading(const void* return_address) {
  if (!is_program() || RaceDetector::watching() != nullptr) {
    return;
  }
  const std::lock_guard lock(runtime_mutex());
  Runtime& state = runtime();
  if (current_thread() || !state.ledger.kernels_under_way || state.launched.empty()) {
    return;
  }
  const Launched& last = state.launched.back();
  state.report(Finding{
      .kind = FindingKind::stopwatch,
      .message = "the clock is read while " + last.kernel + ", launched at " + line_of(last.site) +
                 ", may still run: nobody has waited for it, so what is timed is its launch; "
                 "cudaDeviceSynchronize() before the clock is read waits",
      .at = code_line_of(site_before(return_address)),
      .other = code_line_of(last.site)});
}

} // namespace

void judge_events(Runtime& state, const Event& first, const Event& last) {
  if (!is_program() || last.launches <= first.launches) {
    return;
  }
  const auto begin = state.launched.begin();
  const auto is_elsewhere =
      [&](const Launched& launched) { // and nothing of its stream is waited for
        const bool both_wait = last.stream == nullptr && launched.blocking;
        return launched.stream != last.stream && !both_wait;
      };
  if (std::all_of(begin + first.launches, begin + last.launches, is_elsewhere)) {
    const Launched& launched = *(begin + first.launches);
    state.report(
        Finding{.kind = FindingKind::stopwatch,
                .message = "these events are recorded on another stream than that on which " +
                           launched.kernel + " is launched at " + line_of(launched.site) +
                           ": the time between them is not the kernel's",
                .other = code_line_of(launched.site)});
  }
  if (last.allocations > first.allocations) {
    state.report(Finding{.kind = FindingKind::stopwatch,
                         .message = "the time between these events has " +
                                    std::to_string(last.allocations - first.allocations) +
                                    " allocations in it, which take longer than small kernels"});
  }
}

} // namespace diffbench::emulation

using diffbench::emulation::note_reading;

// NOLINTBEGIN: the names are the linker's
extern "C" {
int __wrap_gettimeofday(timeval* time, void* zone) {
  note_reading(__builtin_return_address(0));
  return ::gettimeofday(time, static_cast<struct timezone*>(zone));
}
int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  note_reading(__builtin_return_address(0));
  return ::clock_gettime(clock, time);
}
std::clock_t __wrap_clock() {
  note_reading(__builtin_return_address(0));
  return std::clock();
}
double __wrap_omp_get_wtime() {
  note_reading(__builtin_return_address(0));
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv() {
  note_reading(__builtin_return_address(0));
  return std::chrono::system_clock::now().time_since_epoch().count();
}
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  note_reading(__builtin_return_address(0));
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
}
// NOLINTEND
