// SPDX-License-Identifier: Apache-2.0
// The memory of this process: where a cold run starts from, and its peak.
#pragma once

#include <cstdint>
#include <optional>

namespace diffbench::bench {

/// Where a cold run starts from that will take `bytes`: as in a process of its own the allocator
/// has nothing kept, and the machine behind this process has that much memory in hand. A hypervisor
/// may take back what a virtual machine has not used for a second (virtio-balloon's free page
/// reporting); the first touch of a page then took 50 times as long, or not, by what ran before.
/// From arrays in huge pages on, and as far as that takes no more than three quarters of what is
/// available.
void start_from_fresh_memory(std::int64_t bytes);

/// Measures the peaks of resident memory of parts of a run, and of all of it, one part after
/// another (Linux: /proc/self/status).
class MemoryWatch {
 public:
  /// Begins a part: sets the system's peak back to what is resident now.
  void begin();
  /// How far memory rose above what was resident at begin(). Empty where the system does not let
  /// the peak be set back (it then only ever shows the largest part).
  [[nodiscard]] std::optional<std::int64_t> rise();
  /// start_from_fresh_memory(), without a trace in any peak: where the peak cannot be set back,
  /// only the allocator is emptied.
  void start_from_fresh(std::int64_t bytes);
  /// The peak of the process since it started. Empty where /proc is not there.
  [[nodiscard]] std::optional<std::int64_t> process_peak();

 private:
  std::int64_t resident_at_begin_ = 0;
  std::int64_t largest_peak_ = 0; ///< of the parts that a later begin() has wiped out
  bool resets_ = false;
};

} // namespace diffbench::bench
