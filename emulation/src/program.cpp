// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include "canary.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "segfault.hpp"

#include <emulation/user_reports.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include <unistd.h>

namespace diffbench::emulation {
namespace {

using SteadyClock = std::chrono::steady_clock;

bool begun = false;
SteadyClock::time_point deadline;
std::int64_t left_to_watch = 120'000'000; ///< accesses of kernels: some ten seconds
std::size_t copies_to_watch = 64 << 20;   ///< bytes
constexpr std::int64_t most_of_first = 20'000'000;
constexpr std::int64_t most_of_later = 2'000'000;

} // namespace

bool is_program() { return begun; }

bool past_deadline() { return begun && SteadyClock::now() >= deadline; }

void end_program() {
  diffbench_try_program_ended(/*by_itself=*/false);
  ::_exit(0);
}

std::int64_t accesses_to_watch(std::int64_t n) {
  const bool first = n == 1;
  if (!first && n > 4 && !std::has_single_bit(static_cast<std::uint64_t>(n))) {
    return 0;
  }
  return std::min(first ? most_of_first : most_of_later,
                  std::max<std::int64_t>(0, left_to_watch - race_detector().accesses()) / 4);
}

bool watches_copy(std::size_t bytes) {
  if (!begun) {
    return true;
  }
  const bool watches = bytes <= copies_to_watch;
  copies_to_watch -= watches ? bytes : 0;
  return watches;
}

} // namespace diffbench::emulation

void diffbench_try_program(double seconds) {
  using namespace diffbench::emulation;
  begun = true;
  deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                      std::chrono::duration<double>(seconds));
  poison = unlikely_poison;
  install_segfault_handler();
}
