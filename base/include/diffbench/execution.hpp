// How work runs on a machine: on which kind of device, what a caller may ask for, what is there,
// and what really ran. Solver and networks share it.
#pragma once

#include "diffbench/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench {

enum class DeviceKind {
  cpu,
  cuda,
  emulated, ///< CUDA's code on the CPU, for tests: its times mean nothing
};
[[nodiscard]] std::string_view to_string(DeviceKind device);

/// How the host's side of copies to and from a device is held.
enum class Transfer {
  pageable,       ///< ordinary memory: the driver copies through a buffer of its own
  pinned,         ///< page-locked when allocated
  registered,     ///< ordinary memory, page-locked afterwards
  write_combined, ///< page-locked and uncached: fast to write in order, very slow to read
  mapped,         ///< page-locked, read and written by kernels over the bus (zero-copy)
  managed,        ///< one address on both sides; prefetched
};
[[nodiscard]] std::string_view to_string(Transfer transfer);
/// Throws InvalidInput, listing the valid names, for an unknown one.
[[nodiscard]] Transfer parse_transfer(std::string_view name);

/// How a session runs. What is asked for here is what runs, or making the session throws. Options
/// that a backend has no use for are ignored: CPU backends those of the device, and so on.
struct SessionOptions {
  int threads = 0;             ///< 0: the backend chooses, at most usable_cpus()
  std::optional<Isa> isa = {}; ///< empty: best_isa()
  int device = 0;
  Transfer transfer = Transfer::pageable;
  bool async = false;  ///< copies run beside compute, on streams of their own
  bool retune = false; ///< measure the candidates again, whatever the cache of earlier choices says
  /// For tests: whether the CPU's vectors keep clear of denormal numbers. Empty: where that is
  /// quicker on this CPU.
  std::optional<bool> without_denormals = {};
};

/// The largest --threads that is accepted.
inline constexpr int max_threads = 4096;

/// What REALLY ran.
struct Provenance {
  int threads = 1;
  /// Further facts in a fixed order: {"isa", "avx512"}, {"depth", "16"}, ...
  std::vector<std::pair<std::string, std::string>> details;
};

/// A device that is not the CPU.
struct DeviceFacts {
  std::string name;
  std::int64_t memory_bytes = 0; ///< all of it, free or not
  std::string runtime;           ///< version of the library in this build, such as "13.0"
  std::string driver;            ///< the newest such version that the driver supports
};

struct Probe {
  bool available = true;
  std::string reason = {};                ///< why not, when it is not available
  std::optional<DeviceFacts> device = {}; ///< of a backend that needs one and has it
};
/// For backends that need nothing but a CPU.
[[nodiscard]] Probe always_available(int device) noexcept;

} // namespace diffbench
