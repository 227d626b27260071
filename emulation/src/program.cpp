// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include "canary.hpp"
#include "code_site.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "segfault.hpp"

#include <emulation/user_reports.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace diffbench::emulation {
namespace {

using SteadyClock = std::chrono::steady_clock;

bool begun = false;
bool looks = true;                             ///< at accesses
std::map<std::uint64_t, std::uint64_t> copied; ///< sums of what copies gave the host, by site
bool backwards = false;
bool fresh_result = false; ///< they gave it what fresh memory holds, from memory that was written
SteadyClock::time_point deadline;
std::int64_t left_to_watch = 120'000'000; ///< accesses of kernels: some ten seconds
std::size_t copies_to_watch = 64 << 20;   ///< bytes
constexpr std::int64_t most_of_first = 20'000'000;
constexpr std::int64_t most_of_later = 2'000'000;

/// Of a second run: no byte is the same, so that a sum with it is another one, too.
constexpr std::uint32_t other_poison = 0x3fc4'5a5b;

/// All bits of the bytes that are the same in both.
std::uint32_t equal_bytes(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t differs = a ^ b, low = 0x7f7f'7f7f;
  const std::uint32_t zero = ~(((differs & low) + low) | differs | low);
  return (zero >> 7) * 255;
}

} // namespace

bool is_program() { return begun; }

bool past_deadline() { return begun && SteadyClock::now() >= deadline; }

void end_program() {
  for (Finding& race : race_detector().take_races()) { // of a launch that has not ended
    runtime().report(std::move(race));
  }
  diffbench_try_program_ended(/*by_itself=*/false);
  ::_exit(0);
}

std::int64_t accesses_to_watch(std::int64_t n) {
  const bool first = n == 1;
  if (!looks) {
    return 0;
  }
  if (!first && n > 4 && !std::has_single_bit(static_cast<std::uint64_t>(n))) {
    return 0;
  }
  return std::min(first ? most_of_first : most_of_later,
                  std::max<std::int64_t>(0, left_to_watch - race_detector().accesses()) / 4);
}

void note_copied(const std::byte* data, std::size_t bytes, std::uint64_t site) {
  if (!begun) {
    return;
  }
  std::uint64_t sum = bytes;
  for (std::size_t i = 0; i < bytes; i += sizeof poison) {
    std::uint32_t word = 0;
    std::memcpy(&word, data + i, std::min(sizeof word, bytes - i));
    word &= ~equal_bytes(word, unlikely_poison) & ~equal_bytes(word, other_poison);
    sum = (sum ^ word) * 0x9e37'79b9'7f4a'7c15u;
    sum ^= sum >> 32;
  }
  copied[site] += sum; // in any order: streams have none
}

void note_fresh_result() { fresh_result = true; }

std::string copied_json() {
  if (copied.empty() || fresh_result) {
    return "null";
  }
  std::map<std::string, std::uint64_t> by_line;
  for (const auto& [site, sum] : copied) {
    by_line[line_of(site)] += sum;
  }
  std::string json;
  for (const auto& [line, sum] : by_line) {
    json += (json.empty() ? "{" : ", ") + json_text(line) + ": " + std::to_string(sum);
  }
  return json + "}";
}

bool runs_backwards() { return backwards; }

bool watches_copy(std::size_t bytes) {
  if (!begun) {
    return true;
  }
  const bool watches = looks && bytes <= copies_to_watch;
  copies_to_watch -= watches ? bytes : 0;
  return watches;
}

} // namespace diffbench::emulation

void diffbench_try_program(double seconds, bool again, bool in_reverse) {
  using namespace diffbench::emulation;
  begun = true;
  deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                      std::chrono::duration<double>(seconds));
  looks = !again;
  backwards = in_reverse;
  poison = again && !in_reverse ? other_poison : unlikely_poison;
  install_segfault_handler();
  // abort() ends the process all the same.
  std::signal(SIGABRT, [](int) { diffbench_try_program_ended(/*by_itself=*/false); });
  std::thread([] { // for what the host does
    std::this_thread::sleep_until(deadline);
    const std::lock_guard lock(runtime_mutex());
    end_program();
  })
      .detach();
}
