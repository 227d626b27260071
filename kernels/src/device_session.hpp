// SPDX-License-Identifier: Apache-2.0
// Everything of a session on a CUDA device but its kernels: memory, copies, snapshots, phases.
//
// A derived class says how work is issued (enqueue) and what ran (details). One stream carries
// uploads, work and downloads in order: the state that they replace, advance or read is the same,
// so there is nothing that another stream could overlap. Only snapshots, which are copies of the
// state, leave on a stream of their own (SessionOptions::async).
#pragma once

#include "device_field.hpp"
#include "device_row_memory.hpp"

#include "diffbench/backend.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/error.hpp"
#include "diffbench/gpu/host_array.hpp"
#include "diffbench/gpu/stream.hpp"
#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::kernels {

/// Whether copies go through page-locked memory that is made once, the session's arena, rather than
/// from and to the caller's memory as it is.
[[nodiscard]] inline bool needs_arena(Transfer transfer) {
  return transfer == Transfer::pinned || transfer == Transfer::registered ||
         transfer == Transfer::write_combined;
}

/// What a DeviceSession with this layout will hold; `extra_device` bytes are the derived class's
/// own.
[[nodiscard]] MemoryNeed device_memory_need(const Problem& problem, const SessionOptions& options,
                                            const FieldLayout& layout,
                                            std::int64_t extra_device = 0);

/// Throws Error, with the figures, when `need` exceeds the free memory of the current device.
void require_device_memory(const MemoryNeed& need, const gpu::Device& device);

/// Runs `make` and adds the seconds that it took to a phase.
template <typename Make>
auto timed(double& phase, Make make) {
  const ScopedTimer timer(phase);
  return make();
}

template <typename T>
class DeviceSession : public Session<T> {
 public:
  /// Throws Unavailable (no such device), Error (too little memory) or gpu::CudaError.
  DeviceSession(const Problem& problem, const SessionOptions& options, const FieldLayout& layout,
                std::int64_t extra_device_bytes = 0)
      : problem_(problem),
        options_(options),
        device_(timed(phases_.context, [&] { return open(layout, extra_device_bytes); })),
        field_(timed(phases_.alloc, [&] { return DeviceField<T>(layout, options.transfer); })),
        arena_(timed(phases_.pin, [&] { return make_arena(); })) {
    if (options.async) {
      for (Snapshot& snapshot : snapshots_) {
        snapshot.cells = gpu::DeviceArray<T>(problem.cells());
      }
    }
    field_.fill_with_nan(compute_);
    compute_.synchronize();
    // Whatever else the construction took: snapshots, streams, events.
    phases_.alloc += construction_.seconds() - phases_.context - phases_.alloc - phases_.pin;
  }

  ~DeviceSession() override { finish(); }

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    wait(); // the device may still be reading what is to be replaced
    const ScopedTimer timer(phases_.h2d);
    const std::int64_t rows = rows_of(cells);
    if (straight(cells.data())) {
      phases_.h2d_busy += in_order([&] {
        copy_rows(compute_, {field_.now() + offset_of(first), pitch_bytes()},
                  {cells.data(), row_bytes()}, row_bytes(), static_cast<std::size_t>(rows),
                  cudaMemcpyDefault);
      });
      return;
    }
    if (T* const host = field_.now_on_host()) {
      for (std::int64_t y = 0; y < rows; ++y) {
        std::copy_n(cells.data() + y * problem_.nx, problem_.nx, host + offset_of(first + y));
      }
      if (options_.transfer == Transfer::managed) {
        // The other buffer too: the first step writes it, and would fault page by page.
        const Pages pages = pages_of(first, rows);
        prefetch_to_device(compute_, field_.next_buffer() + pages.first, pages.bytes,
                           device_.index);
        phases_.h2d_busy += in_order([&] {
          prefetch_to_device(compute_, field_.now_buffer() + pages.first, pages.bytes,
                             device_.index);
        });
      }
      return;
    }
    const T* source = cells.data();
    if (through_arena(source)) {
      std::ranges::copy(cells, arena_row(first));
      source = arena_row(first);
    }
    phases_.h2d_busy += in_order([&] {
      copy_rows(compute_, {field_.now() + offset_of(first), pitch_bytes()}, {source, row_bytes()},
                row_bytes(), static_cast<std::size_t>(rows), cudaMemcpyHostToDevice);
    });
  }

  void advance(std::int64_t steps) override {
    if (steps == 0) {
      return;
    }
    const ScopedTimer timer(phases_.launch);
    make_current();
    if (!work_issued_) {
      launch_before_work_ = phases_.launch;
      compute_.record(work_begin_);
      work_issued_ = true;
    }
    enqueue(steps);
  }

  void wait() override {
    make_current();
    if (work_issued_) {
      wait_for_work();
    }
    if (snapshot_copies_.empty()) {
      return;
    }
    const ScopedTimer timer(phases_.d2h);
    snapshot_stream_.synchronize();
    for (const SnapshotCopy& copy : snapshot_copies_) {
      phases_.d2h_busy += copy.end.seconds_since(copy.begin);
    }
    snapshot_copies_.clear();
  }

  void download_rows(std::int64_t first, std::span<T> cells) override {
    wait();
    const ScopedTimer timer(phases_.d2h);
    const std::int64_t rows = rows_of(cells);
    if (straight(cells.data())) {
      phases_.d2h_busy += in_order([&] {
        copy_rows(compute_, {cells.data(), row_bytes()},
                  {field_.now() + offset_of(first), pitch_bytes()}, row_bytes(),
                  static_cast<std::size_t>(rows), cudaMemcpyDefault);
      });
      return;
    }
    if (const T* const host = field_.now_on_host()) {
      if (options_.transfer == Transfer::managed) {
        const Pages pages = pages_of(first, rows);
        phases_.d2h_busy += in_order(
            [&] { prefetch_to_host(compute_, field_.now_buffer() + pages.first, pages.bytes); });
      }
      for (std::int64_t y = 0; y < rows; ++y) {
        std::copy_n(host + offset_of(first + y), problem_.nx, cells.data() + y * problem_.nx);
      }
      return;
    }
    T* const target = through_arena(cells.data()) ? arena_row(first) : cells.data();
    phases_.d2h_busy += in_order([&] {
      copy_rows(compute_, {target, row_bytes()}, {field_.now() + offset_of(first), pitch_bytes()},
                row_bytes(), static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost);
    });
    if (target != cells.data()) {
      std::copy_n(target, cells.size(), cells.begin());
    }
  }

  /// With SessionOptions::async the state is copied aside on the device, and from there to the host
  /// while later work runs. It returns before that has ended when `cells` is host_buffer(); to
  /// other memory the host blocks until the copy has arrived, the device does not. Two states are
  /// kept aside: with both on their way, later work waits for the first.
  void start_download(std::span<T> cells) override {
    if (!options_.async) {
      this->download(cells);
      return;
    }
    const ScopedTimer timer(phases_.d2h);
    make_current();
    Snapshot& snapshot = snapshots_[next_snapshot_];
    next_snapshot_ = 1 - next_snapshot_;

    // From wherever the field is: mapped memory is the host's.
    compute_.wait_for(snapshot.sent);
    copy_rows(compute_, {snapshot.cells.data(), row_bytes()}, {field_.now(), pitch_bytes()},
              row_bytes(), static_cast<std::size_t>(problem_.ny), cudaMemcpyDefault);
    compute_.record(snapshot.taken);

    T* const target = through_arena(cells.data()) ? arena_row(0) : cells.data();
    SnapshotCopy copy;
    snapshot_stream_.wait_for(snapshot.taken);
    snapshot_stream_.record(copy.begin);
    copy_to_host(snapshot_stream_, target, snapshot.cells.data(), cells.size_bytes());
    snapshot_stream_.record(copy.end);
    snapshot_stream_.record(snapshot.sent);
    snapshot_copies_.push_back(std::move(copy));
    if (target != cells.data()) {
      snapshot.sent.wait();
      std::copy_n(target, cells.size(), cells.begin());
    }
  }

  /// In the page-locked modes; empty in the others. Copies of other memory pass through it, each
  /// row at its own place, so what it holds lasts until the next call that copies.
  [[nodiscard]] std::span<T> host_buffer() override { return arena_.cells(); }

  /// Page-locked memory of the host in every transfer mode, never write-combined: who sends the
  /// message reads it. Throws gpu::CudaError.
  [[nodiscard]] std::unique_ptr<RowMemory<T>> row_memory(std::int64_t cells,
                                                         RowMemoryKind kind) override {
    make_current();
    if (kind == RowMemoryKind::device) {
      const ScopedTimer timer(phases_.alloc);
      return std::make_unique<DeviceRowMemory<T>>(given_, compute_, cells);
    }
    const ScopedTimer timer(phases_.pin);
    return std::make_unique<PinnedRowMemory<T>>(given_, cells);
  }

  [[nodiscard]] std::optional<PhaseTimes> take_phases() override {
    launch_before_work_ -= phases_.launch; // of work that goes on
    return std::exchange(phases_, {});
  }

  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = gpu::device_provenance(device_, options_);
    for (auto& detail : details()) {
      provenance.details.push_back(std::move(detail));
    }
    return provenance;
  }

 protected:
  using Details = std::vector<std::pair<std::string, std::string>>;

  /// Issues `steps` > 0 time steps on stream(), from field().now(), and leaves the state that they
  /// end in as field().now(). MAY block.
  virtual void enqueue(std::int64_t steps) = 0;
  /// What more there is to say in provenance.
  [[nodiscard]] virtual Details details() const { return {}; }

  /// For what a derived class makes at its construction: runs `make` as part of the phase `alloc`.
  template <typename Make>
  auto allocating(Make make) {
    return timed(phases_.alloc, make);
  }

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const SessionOptions& options() const { return options_; }
  [[nodiscard]] const gpu::Device& device() const { return device_; }
  [[nodiscard]] const gpu::Stream& stream() const { return compute_; }
  [[nodiscard]] DeviceField<T>& field() { return field_; }
  [[nodiscard]] const DeviceField<T>& field() const { return field_; }

  /// Waits for outstanding work; failures are logged. A derived class whose own device memory the
  /// work uses calls this in its destructor.
  void finish() noexcept {
    DIFFBENCH_CUDA_LOG(cudaSetDevice(device_.index));
    DIFFBENCH_CUDA_LOG(cudaStreamSynchronize(compute_.get()));
    DIFFBENCH_CUDA_LOG(cudaStreamSynchronize(snapshot_stream_.get()));
  }

 private:
  struct Snapshot {
    gpu::DeviceArray<T> cells;
    gpu::Event taken{gpu::Event::Timing::off};
    gpu::Event sent{gpu::Event::Timing::off};
  };
  struct SnapshotCopy {
    gpu::Event begin;
    gpu::Event end;
  };

  gpu::Device open(const FieldLayout& layout, std::int64_t extra_device_bytes) const {
    gpu::Device device = gpu::use_device(options_.device);
    gpu::require_transfer(options_.transfer, device);
    require_device_memory(device_memory_need(problem_, options_, layout, extra_device_bytes),
                          device);
    return device;
  }

  // The current device belongs to the calling thread, and another session may have changed it.
  void make_current() const { DIFFBENCH_CUDA_CHECK(cudaSetDevice(device_.index)); }

  // How much of the wait is compute and how much synchronization, the host cannot see. By the
  // device's clock the work took so long; part of that passed while it was being issued.
  void wait_for_work() {
    work_issued_ = false;
    compute_.record(work_end_);
    double waited = 0;
    {
      const ScopedTimer timer(waited);
      compute_.synchronize();
    }
    const double busy = work_end_.seconds_since(work_begin_);
    const double issuing = phases_.launch - launch_before_work_;
    const double computing = std::clamp(busy - issuing, 0.0, waited);
    phases_.compute_busy += busy;
    phases_.compute += computing;
    phases_.sync += waited - computing;
  }

  // Issues a copy, waits for it, and returns its seconds by the device's clock.
  template <typename Issue>
  double in_order(Issue issue) {
    compute_.record(copy_begin_);
    issue();
    compute_.record(copy_end_);
    compute_.synchronize();
    return copy_end_.seconds_since(copy_begin_);
  }

  [[nodiscard]] gpu::HostArray<T> make_arena() const {
    return needs_arena(options_.transfer) ? gpu::HostArray<T>(options_.transfer, problem_.cells())
                                          : gpu::HostArray<T>();
  }
  // Memory that the session has given is copied as it is: without the arena in between, and from a
  // managed field without moving its pages to the host. Only a mapped field, which is the host's
  // memory as pinned rows are, is copied by the host.
  [[nodiscard]] bool straight(const T* cells) const {
    const auto* const piece = given_.find(cells);
    return piece != nullptr &&
           (piece->kind == RowMemoryKind::device || options_.transfer != Transfer::mapped);
  }
  // Copies take the way that was asked for also when the caller's memory is not in the arena.
  [[nodiscard]] bool through_arena(const T* cells) {
    const std::span<const T> arena = arena_.cells();
    const std::less<> before;
    return needs_arena(options_.transfer) &&
           (before(cells, arena.data()) || !before(cells, arena.data() + arena.size()));
  }
  [[nodiscard]] T* arena_row(std::int64_t y) { return arena_.cells().data() + y * problem_.nx; }

  [[nodiscard]] std::int64_t rows_of(std::span<const T> cells) const {
    return std::ssize(cells) / problem_.nx;
  }
  // Of a row's first cell from cell (0, 0).
  [[nodiscard]] std::int64_t offset_of(std::int64_t y) const { return y * field_.layout().pitch; }

  // What of a buffer moves with these rows: with those beside them, so that ghost rows do, too.
  struct Pages {
    std::int64_t first;
    std::size_t bytes;
  };
  [[nodiscard]] Pages pages_of(std::int64_t first, std::int64_t rows) const {
    const FieldLayout& layout = field_.layout();
    const std::int64_t begin = std::max<std::int64_t>(layout.first + offset_of(first - 1), 0);
    const std::int64_t end = std::min(layout.first + offset_of(first + rows + 1), layout.size);
    return {begin, static_cast<std::size_t>(end - begin) * sizeof(T)};
  }

  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(problem_.nx) * sizeof(T);
  }
  [[nodiscard]] std::size_t pitch_bytes() const {
    return static_cast<std::size_t>(field_.layout().pitch) * sizeof(T);
  }

  Problem problem_;
  SessionOptions options_;
  Stopwatch<> construction_;
  PhaseTimes phases_;
  gpu::Device device_;
  DeviceField<T> field_;
  gpu::HostArray<T> arena_; ///< empty unless needs_arena()
  GivenMemory<T> given_;

  gpu::Event work_begin_;
  gpu::Event work_end_;
  gpu::Event copy_begin_;
  gpu::Event copy_end_;
  bool work_issued_ = false;      ///< since the last wait
  double launch_before_work_ = 0; ///< phases_.launch at that point

  std::array<Snapshot, 2> snapshots_;
  std::size_t next_snapshot_ = 0;
  std::vector<SnapshotCopy> snapshot_copies_; ///< since the last wait

  // Last, so that they are destroyed first: that waits for what uses the rest.
  gpu::Stream compute_;
  gpu::Stream snapshot_stream_;
};

extern template class DeviceSession<float>;
extern template class DeviceSession<double>;

} // namespace diffbench::kernels
