// SPDX-License-Identifier: Apache-2.0
// The interface between the driver and every backend.
//
// To add a backend, write ONE file solver/backends/NAME.cpp with
//   1. a class that implements Session<T>,
//   2. `namespace diffbench::backends { BackendInfo NAME() { return {...}; } }`,
// and build again: the registry is generated from the files. The conformance tests take it up
// by themselves and demand the oracle's bits. solver/backends/fused.cpp is a short one to start
// from.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/execution.hpp"
#include "diffbench/problem.hpp"
#include "diffbench/registry_entry.hpp"
#include "diffbench/row_memory.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace diffbench {

/// Where the time of a session's calls went, in seconds: exclusive phases on the host's clock, and
/// how long each engine of the device was busy by its own clock.
struct PhaseTimes {
  double context = 0; ///< making the device's context
  double alloc = 0;
  double pin = 0;     ///< page-locking host memory
  double h2d = 0;     ///< in upload
  double launch = 0;  ///< in advance: issuing work
  double compute = 0; ///< in wait, while the device still computed
  double sync = 0;    ///< in wait, after that
  double d2h = 0;     ///< in download
  double h2d_busy = 0;
  double compute_busy = 0;
  double d2h_busy = 0;
};

/// One problem resident on one device. Spans are row-major: of whole fields, nx*ny cells; of rows,
/// a multiple of nx that is not 0, and rows [first, first + size/nx) are rows of the grid. The
/// order of calls is upload, then any number of the others; upload may come again to start anew,
/// and rows may be replaced at any time (the halo rows of a part of a larger grid, before each
/// stretch of steps). A session is used by one thread at a time. Destruction waits for outstanding
/// work.
template <typename T>
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// Replaces the field, as upload_rows does.
  void upload(std::span<const T> cells) { upload_rows(0, cells); }
  /// Replaces rows from `first` on in the state that the work issued so far ends in; other rows
  /// keep what they hold. MAY wait for that work. `cells` may be reused when it returns.
  virtual void upload_rows(std::int64_t first, std::span<const T> cells) = 0;
  /// Advances by steps >= 0. MAY return before the work is done; calls run in order.
  virtual void advance(std::int64_t steps) = 0;
  /// Blocks until all work is done; errors of earlier calls that were deferred are thrown here.
  virtual void wait() = 0;
  /// Waits, then copies the field to `cells`.
  void download(std::span<T> cells) { download_rows(0, cells); }
  /// Waits, then copies rows from `first` on to `cells`.
  virtual void download_rows(std::int64_t first, std::span<T> cells) = 0;
  /// Starts copying the field as it is after the work issued so far. MAY return before the copy is
  /// done: `cells` must stay valid and untouched until wait(). Work issued later does not change
  /// what arrives. For backends without such copies it is download().
  virtual void start_download(std::span<T> cells) { download(cells); }
  /// Memory of the session's own, nx*ny cells, from and to which its copies are fastest
  /// (page-locked), also those of rows; empty when there is none.
  [[nodiscard]] virtual std::span<T> host_buffer() { return {}; }
  /// Memory for rows that go elsewhere, to be made once and kept. Throws Unavailable where the
  /// session is on no device and its memory is asked for, and Error when the memory cannot be had.
  [[nodiscard]] virtual std::unique_ptr<RowMemory<T>> row_memory(std::int64_t cells,
                                                                 RowMemoryKind kind) {
    if (kind == RowMemoryKind::device) {
      throw Unavailable("this session has no memory on a device");
    }
    return std::make_unique<HostRowMemory<T>>(cells);
  }
  /// The phases of the calls since the last take_phases(), or since the session was made; empty for
  /// backends that do not know more than the caller's clock.
  [[nodiscard]] virtual std::optional<PhaseTimes> take_phases() { return std::nullopt; }
  /// What really ran. Valid at any time, complete after the first advance.
  [[nodiscard]] virtual Provenance provenance() const = 0;
};

using BackendInfo = RegistryEntry<Problem, Session>;

} // namespace diffbench
