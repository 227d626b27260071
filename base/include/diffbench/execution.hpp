// SPDX-License-Identifier: Apache-2.0
// How work runs on a machine: on which kind of device, what a caller may ask for, what is there,
// and what really ran. Solver and networks share it.
#pragma once

#include "diffbench/machine.hpp"
#include "diffbench/name_table.hpp"

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
inline constexpr NameTable<DeviceKind, 3> device_kind_names{
    "kind of device",
    {{{DeviceKind::cpu, "cpu"}, {DeviceKind::cuda, "cuda"}, {DeviceKind::emulated, "emulated"}}}};
[[nodiscard]] constexpr std::string_view to_string(DeviceKind device) {
  return device_kind_names.name(device);
}

/// How the host's side of copies to and from a device is held.
enum class Transfer {
  pageable,       ///< ordinary memory: the driver copies through a buffer of its own
  pinned,         ///< page-locked when allocated
  registered,     ///< ordinary memory, page-locked afterwards
  write_combined, ///< page-locked and uncached: fast to write in order, very slow to read
  mapped,         ///< page-locked, read and written by kernels over the bus (zero-copy)
  managed,        ///< one address on both sides; prefetched
};
inline constexpr NameTable<Transfer, 6> transfer_names{
    "transfer",
    {{{Transfer::pageable, "pageable"},
      {Transfer::pinned, "pinned"},
      {Transfer::registered, "registered"},
      {Transfer::write_combined, "write-combined"},
      {Transfer::mapped, "mapped"},
      {Transfer::managed, "managed"}}}};
[[nodiscard]] constexpr std::string_view to_string(Transfer transfer) {
  return transfer_names.name(transfer);
}

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

/// What REALLY ran. What the program decides by has a field; details are for people.
struct Provenance {
  using Details = std::vector<std::pair<std::string, std::string>>;

  int threads = 1;
  std::optional<Isa> isa = {};
  std::string device = {};                      ///< its name; empty on the CPU
  std::optional<std::int64_t> sweep_depth = {}; ///< steps in one pass over the field
  bool resident = false;                        ///< the field stays in a core: no passes
  std::optional<std::int64_t> halo_depth = {};  ///< steps between two exchanges of several ranks
  bool oversubscribed = false; ///< ranks have more threads than there are CPUs: they take turns
  std::string in_core = {};    ///< what a core could do; empty where nobody counted
  Details details = {};        ///< further facts, in a fixed order: {"strips", "2"}, ...

  /// All but the threads, in the order in which they are shown: {"isa", "avx512"}, ...
  [[nodiscard]] Details facts() const;
};

/// A device that is not the CPU.
struct DeviceFacts {
  std::string name;
  std::int64_t memory_bytes = 0; ///< all of it, free or not
  std::string runtime;           ///< version of the library in this build, such as "13.0"
  std::string driver;            ///< the newest such version that the driver supports
};

/// Why something is not available, as far as the program decides by it.
enum class Absent { no_gpu, otherwise };

struct Probe {
  bool available = true;
  Absent why = Absent::otherwise;         ///< when it is not available
  std::string reason = {};                ///< the same for people
  std::optional<DeviceFacts> device = {}; ///< of a backend that needs one and has it
};
/// For backends that need nothing but a CPU.
[[nodiscard]] Probe always_available(int device) noexcept;

} // namespace diffbench
