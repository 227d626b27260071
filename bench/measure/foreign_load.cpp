// SPDX-License-Identifier: Apache-2.0
#include "foreign_load.hpp"

#include "cpu_time.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/text.hpp"
#include "thread_times.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// Below this share of a CPU it was not the clock tick or an interrupt.
constexpr double undisturbed_share = 0.9;
constexpr double largest_share_of_others = 0.1;

double own_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (::getrusage(who, &usage) == 0) {
      seconds += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
  }
  const auto process = thread_times("/proc/self", false);
  for (const auto& [thread, times] : thread_times("/proc/self", true)) {
    seconds += process.contains(thread) ? 0 : times.ran; // rusage has no child that lives
  }
  return seconds;
}

/// As planted_load_variable says; empty where it says nothing.
std::optional<double> planted_load() {
  const char* const text = std::getenv(planted_load_variable);
  return text != nullptr ? parse_number<double>(text) : std::nullopt;
}

/// Ticks that a line "cpu0 user nice system idle iowait irq softirq steal ..." counts as work;
/// guests are in user.
double busy_ticks(std::istream& counters) {
  double busy = 0;
  double ticks = 0;
  for (int counter = 0; counter < 8 && counters >> ticks; ++counter) {
    const bool idle = counter == 3 || counter == 4;
    busy += idle ? 0 : ticks;
  }
  return busy;
}

} // namespace

std::optional<CpuAccount> read_cpu_account(const std::filesystem::path& root) {
  const std::vector<int> mask = affinity();
  std::set<int> missing(mask.begin(), mask.end());
  std::ifstream file(root / "proc/stat");
  const double tick = 1 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  double ticks = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.starts_with("cpu") && name.size() > 3 && missing.erase(std::atoi(&name[3])) > 0) {
      ticks += busy_ticks(words);
    }
  }
  if (mask.empty() || !missing.empty()) {
    return std::nullopt;
  }
  return CpuAccount{
      .wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
                  .count(),
      .busy = ticks * tick,
      .own = own_seconds(),
      .cpus = static_cast<int>(mask.size()),
      .usable = usable_cpus(root),
      .tick = tick};
}

LoadWatch::LoadWatch() : LoadWatch([] { return read_cpu_account(); }) { planted_ = planted_load(); }

LoadWatch::LoadWatch(Source source) : source_(std::move(source)), begin_(source_()) {}

void LoadWatch::add_work(double cpu_seconds, double wall_seconds) {
  cpu_ += std::min(cpu_seconds, wall_seconds); // what one row got more makes up for no other one
  wall_ += wall_seconds;
}

void LoadWatch::add_work(std::span<const Sample> samples) {
  for (const Sample& sample : samples) {
    if (sample.cpu_seconds) {
      add_work(*sample.cpu_seconds, sample.seconds);
    }
  }
}

void LoadWatch::add_work(const ComparisonResult& result) {
  for (const Row& row : result.rows) {
    if (!row.on_device()) { // the host of a device may sleep while that works
      add_work(row.samples);
    }
  }
}

std::optional<double> LoadWatch::others() const {
  if (planted_) {
    return planted_;
  }
  const std::optional<CpuAccount> now = begin_ ? source_() : std::nullopt;
  if (!now || !(now->wall > begin_->wall)) {
    return std::nullopt;
  }
  // At both ends of the watch, each CPU may be wrong by up to a tick, independently.
  const double error = 2 * std::sqrt(static_cast<double>(now->cpus)) * now->tick;
  const double seconds = (now->busy - begin_->busy) - (now->own - begin_->own) - error;
  // Under a quota there are CPUs besides for the others.
  const double spare = now->cpus - now->usable;
  return std::clamp(seconds / (now->wall - begin_->wall) - spare, 0.0,
                    static_cast<double>(now->usable));
}

std::optional<bool> LoadWatch::others_disturb() const {
  const auto taken = others();
  return taken ? std::optional(disturbs(*taken, begin_ ? begin_->usable : usable_cpus()))
               : std::nullopt;
}

std::optional<std::string> LoadWatch::disturbance() const {
  std::string signs;
  const int usable = begin_ ? begin_->usable : usable_cpus();
  if (others_disturb().value_or(false)) {
    signs = fmt::format("they used {:.1f} of {} CPUs", others().value_or(0), usable);
  }
  if (!planted_ && cpu_ < undisturbed_share * wall_) {
    signs += fmt::format("{}rows got {:.0f} % of a CPU", signs.empty() ? "" : " and ",
                         100 * cpu_ / wall_);
  }
  if (signs.empty()) {
    return std::nullopt;
  }
  return fmt::format("other programs were running: {}; times are known better without them", signs);
}

bool disturbs(double others, int usable) {
  return others > std::min(1.0, largest_share_of_others * usable);
}

} // namespace diffbench::bench
