#include "process_memory.hpp"

#include <malloc.h>
#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace diffbench::bench {

namespace {

/// A line such as "VmHWM:     1234 kB" in bytes; 0 when there is none.
std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == name) {
      std::int64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

} // namespace

void MemoryWatch::begin() {
  largest_peak_ = std::max(largest_peak_, status_bytes("VmHWM:"));
  // What earlier parts freed and the allocator kept would be used again without showing.
  ::malloc_trim(0);
  // "5" sets the peak back to what is resident (proc(5)); sandboxes may forbid it.
  std::ofstream clear_refs("/proc/self/clear_refs");
  clear_refs << "5" << std::flush;
  resident_at_begin_ = status_bytes("VmRSS:");
  resets_ = clear_refs.good() && resident_at_begin_ > 0;
}

std::optional<std::int64_t> MemoryWatch::rise() {
  if (!resets_) {
    return std::nullopt;
  }
  return std::max<std::int64_t>(0, status_bytes("VmHWM:") - resident_at_begin_);
}

std::optional<std::int64_t> MemoryWatch::process_peak() {
  const std::int64_t peak = std::max(largest_peak_, status_bytes("VmHWM:"));
  return peak > 0 ? std::optional(peak) : std::nullopt;
}

} // namespace diffbench::bench
