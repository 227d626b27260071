// Resident memory of this process, now and at its peak (Linux: /proc/self/status).
#pragma once

#include <cstdint>
#include <optional>

namespace diffbench::bench {

/// Measures the peaks of parts of a run, and the peak of all of it, one part after another.
class MemoryWatch {
 public:
  /// Begins a part: sets the system's peak back to what is resident now.
  void begin();
  /// How far memory rose above what was resident at begin(). Empty where the system does not let
  /// the peak be set back (it then only ever shows the largest part).
  [[nodiscard]] std::optional<std::int64_t> rise();
  /// The peak of the process since it started. Empty where /proc is not there.
  [[nodiscard]] std::optional<std::int64_t> process_peak();

 private:
  std::int64_t resident_at_begin_ = 0;
  std::int64_t largest_peak_ = 0; ///< of the parts that a later begin() has wiped out
  bool resets_ = false;
};

} // namespace diffbench::bench
