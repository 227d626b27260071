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
#include <cstring>
#include <map>

#include <unistd.h>

namespace diffbench::emulation {
namespace {

using SteadyClock = std::chrono::steady_clock;

bool begun = false;
bool looks = true;                             ///< at accesses
std::map<std::uint64_t, std::uint64_t> copied; ///< sums of what copies gave the host, by site
std::uint64_t given_before = 0;
bool fresh_result = false; ///< they gave it what fresh memory holds, from memory that was written
SteadyClock::time_point deadline;
std::int64_t left_to_watch = 120'000'000; ///< accesses of kernels: some ten seconds
std::size_t copies_to_watch = 64 << 20;   ///< bytes
constexpr std::int64_t most_of_first = 20'000'000;
constexpr std::int64_t most_of_later = 2'000'000;

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

void note_copied(const std::byte* data, std::size_t bytes, bool to_host, std::uint64_t site) {
  if (!begun || (!to_host && !copied.empty())) {
    return;
  }
  std::uint64_t& kept = to_host ? copied[site] : given_before;
  std::uint64_t sum = kept ^ bytes;
  for (std::size_t i = 0; i < bytes; i += sizeof poison) {
    std::uint32_t word = 0;
    std::memcpy(&word, data + i, std::min(sizeof word, bytes - i));
    sum = (sum ^ (word == poison ? 0 : word)) * 0x9e37'79b9'7f4a'7c15u;
    sum ^= sum >> 32;
  }
  kept = sum;
}

void note_fresh_result() { fresh_result = true; }

std::string copied_json() {
  if (copied.empty() || fresh_result) {
    return "null";
  }
  std::string json;
  for (const auto& [site, sum] : copied) {
    json += (json.empty() ? "{" : ", ") + json_text(line_of(site)) + ": " + std::to_string(sum);
  }
  return json + "}";
}

std::uint64_t given() { return given_before; }

bool runs_again() { return begun && !looks; }

bool watches_copy(std::size_t bytes) {
  if (!begun) {
    return true;
  }
  const bool watches = looks && bytes <= copies_to_watch;
  copies_to_watch -= watches ? bytes : 0;
  return watches;
}

} // namespace diffbench::emulation

void diffbench_try_program(double seconds, bool again) {
  using namespace diffbench::emulation;
  begun = true;
  deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                      std::chrono::duration<double>(seconds));
  looks = !again;
  poison = again ? 0x3fc5'a5a5 : unlikely_poison;
  install_segfault_handler();
}
