// SPDX-License-Identifier: Apache-2.0
// What the Thrust backends on the host share: two fields and the number of OpenMP threads.
#pragma once

#include "field_layout.hpp"
#include "thrust_steps.hpp"

#include "diffbench/backend.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/team_places.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <omp.h>
#include <pthread.h>

namespace diffbench::kernels {

/// As long as it lives, Thrust's algorithms run on `count` threads when this thread calls them.
class OpenMPThreads {
 public:
  explicit OpenMPThreads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  OpenMPThreads(const OpenMPThreads&) = delete;
  OpenMPThreads& operator=(const OpenMPThreads&) = delete;
  ~OpenMPThreads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

/// The number of threads to run on. Throws Unavailable when OpenMP does not give as many as asked.
inline int openmp_threads(const SessionOptions& options) {
  const int asked = options.threads > 0 ? options.threads : usable_cpus();
  const OpenMPThreads threads(asked);
  int given = 0;
#pragma omp parallel
#pragma omp single
  given = omp_get_num_threads();
  if (given != asked) {
    throw Unavailable("OpenMP gives " + std::to_string(given) + " threads where " +
                      std::to_string(asked) +
                      " were asked for; unset OMP_THREAD_LIMIT and OMP_DYNAMIC");
  }
  return given;
}

/// A session over two fields of the same layout; a derived class says what a step is.
template <typename T>
class ThrustHostSession : public Session<T> {
 public:
  ThrustHostSession(const Problem& problem, const SessionOptions& options,
                    const FieldLayout& layout)
      : problem_(problem),
        layout_(layout),
        threads_(openmp_threads(options)),
        places_(threads_),
        now_(layout.size),
        next_(layout.size, stagger_beside(static_cast<std::size_t>(layout.pitch) * sizeof(T))) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    const std::int64_t rows = std::ssize(cells) / problem_.nx;
    for (std::int64_t y = 0; y < rows; ++y) {
      std::copy_n(cells.data() + y * problem_.nx, problem_.nx, row(now_, first + y));
    }
  }

  void advance(std::int64_t steps) override {
    const OpenMPThreads threads(threads_);
    place_threads();
    const Grid<T> grid = grid_of<T>(problem_, layout_.pitch);
    for (std::int64_t i = 0; i < steps; ++i) {
      step(grid, row(now_, 0), row(next_, 0));
      std::swap(now_, next_);
    }
    // OpenMP's threads spin for a while after their last region (libgomp a millisecond, libomp
    // 200), on CPUs that belong to whatever is measured next.
    omp_pause_resource_all(omp_pause_soft);
  }

  void wait() override {}

  void download_rows(std::int64_t first, std::span<T> cells) override {
    const std::int64_t rows = std::ssize(cells) / problem_.nx;
    for (std::int64_t y = 0; y < rows; ++y) {
      std::copy_n(row(now_, first + y), problem_.nx, cells.data() + y * problem_.nx);
    }
  }

  [[nodiscard]] Provenance provenance() const override {
    return {.threads = threads_, .details = {{"thrust", "OpenMP"}}};
  }

 protected:
  /// Computes `next` from `now`, each cell (0, 0) of a field. `now` may be changed where it is not
  /// a cell of the grid.
  virtual void step(const Grid<T>& grid, T* now, T* next) = 0;

 private:
  // OpenMP's own binding can only be asked for before the program starts (OMP_PROC_BIND); who did
  // has it.
  void place_threads() {
    if (threads_ == 1 || omp_get_proc_bind() != omp_proc_bind_false) {
      return;
    }
    places_.follow_caller(); // whether it moved or not: the others are new, at least libgomp's
#pragma omp parallel
    if (const int thread = omp_get_thread_num(); thread > 0) {
      places_.place(pthread_self(), thread);
    }
  }

  [[nodiscard]] T* row(AlignedArray<T>& field, std::int64_t y) const {
    return field.data() + layout_.first + y * layout_.pitch;
  }

  Problem problem_;
  FieldLayout layout_;
  int threads_;
  TeamPlaces places_;
  AlignedArray<T> now_;
  AlignedArray<T> next_;
};

} // namespace diffbench::kernels
