// SPDX-License-Identifier: Apache-2.0
// Whether other programs took CPU time while something was measured.
//
// Two signs count. A row that works all the time and is given less than a CPU has been kept from
// it. And what the CPUs did (proc(5), /proc/stat) beyond what this process used was somebody
// else's. The load average is no such sign: it is of the last minute, this program's own threads
// are in it, and in a container it is the whole host's.
#pragma once

#include "diffbench/cluster/ranks.hpp"
#include "result.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace diffbench::bench {

/// What the CPUs in this process's affinity mask have done until now, in seconds of one CPU.
struct CpuAccount {
  double wall = 0;    ///< of a clock that does not jump
  double busy = 0;    ///< for anybody, a hypervisor's other guests included
  double own = 0;     ///< for this process, and the processes that it started
  int cpus = 1;       ///< in the mask
  int usable = 1;     ///< the same cut down to the cgroup's quota
  double tick = 0.01; ///< in which `busy` is counted
};

/// Empty where the system does not tell, or counts other CPUs than those of the mask.
[[nodiscard]] std::optional<CpuAccount> read_cpu_account(const std::filesystem::path& root = "/");

/// So many CPUs are taken for those of others, and a row's own share for a whole CPU, if the
/// environment sets this: a test plants a load by it, or (0) leaves that of its machine out.
inline constexpr const char* planted_load_variable = "DIFFBENCH_PLANTED_LOAD";

/// Watches the CPUs from its making on.
class LoadWatch {
 public:
  using Source = std::function<std::optional<CpuAccount>()>;

  LoadWatch(); ///< of this machine, or as planted_load_variable says
  explicit LoadWatch(Source source);

  /// Work that had nothing to wait for, so that its threads together had a CPU at any time: where
  /// they got less, somebody else had it.
  void add_work(double cpu_seconds, double wall_seconds);
  /// Of the samples whose CPU time is known.
  void add_work(std::span<const Sample> samples);
  /// That of all rows of the host.
  void add_work(const ComparisonResult& result);

  /// How many of the usable CPUs others had until now, on average; empty where nobody can tell. At
  /// least: the kernel counts by ticks of its clock, and what they may be wrong by is left out.
  [[nodiscard]] std::optional<double> others() const;
  /// Whether that is enough to change times; empty where nobody can tell.
  [[nodiscard]] std::optional<bool> others_disturb() const;
  /// For the reader, where others had enough to change times; nothing where they had not.
  [[nodiscard]] std::optional<std::string> disturbance() const;

 private:
  Source source_;
  std::optional<CpuAccount> begin_;
  std::optional<double> planted_;
  double cpu_ = 0, wall_ = 0; ///< of work
};

/// Of a launcher's ranks, which are processes that work together, it sees nothing but their work;
/// null: there are none.
[[nodiscard]] inline LoadWatch load_watch(const cluster::Ranks* launched) {
  return launched == nullptr ? LoadWatch() : LoadWatch([] { return std::optional<CpuAccount>(); });
}

/// Whether so many of the usable CPUs are enough to change times: more than a tenth, or than one,
/// since a team of threads waits for the one that has to share its CPU.
[[nodiscard]] bool disturbs(double others, int usable);

} // namespace diffbench::bench
