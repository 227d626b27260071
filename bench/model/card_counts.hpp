// SPDX-License-Identifier: Apache-2.0
// What code asks a card for: calls, bytes, launches, waits. Arithmetic only; bill.hpp prices it.
//
// The counts of a user's file come from eight small runs on the emulated device (card_counts_at());
// those of our own backends from a table (counts_of()), which the test BackendCounts holds
// against such runs.
#pragma once

#include "assumed_card.hpp"
#include "diffbench/problem.hpp"
#include "value.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Calls or bytes.
enum class CardCount : std::uint8_t {
  contexts,
  pageable_in_calls,
  pageable_in_bytes,
  pageable_out_calls,
  pageable_out_bytes,
  locked_in_calls, ///< from page-locked memory
  locked_in_bytes,
  locked_out_calls,
  locked_out_bytes,
  // Of the above, from or to page-locked memory, for which nobody waits:
  async_in_calls,
  async_in_bytes,
  async_out_calls,
  async_out_bytes,
  card_copy_calls, ///< within the card
  card_copy_bytes,
  memset_calls,
  memset_bytes,
  managed_in_bytes, ///< managed memory that moves to the card
  managed_out_bytes,
  waits,
  drains, ///< times that the host has waited for kernels
  frees,
  allocations,
  lock_calls,
  lock_bytes,
  end
};
/// Of a kernel.
enum class KernelCount : std::uint8_t {
  launches,
  graph_launches, ///< of these
  // Of the card's memory:
  asked_bytes,    ///< by its threads
  distinct_bytes, ///< of sectors, each once a launch for reads and once for writes
  moved_bytes,    ///< of sectors, each once a warp and instruction
  // Of the host's page-locked memory:
  mapped_in_bytes, ///< distinct ones that are read
  mapped_out_bytes,
  mapped_in_moved, ///< moved ones
  mapped_out_moved,
  written_bytes, ///< of the distinct ones, of either
  end
};

template <typename Which>
class Counts {
 public:
  [[nodiscard]] double& operator[](Which which) { return all_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] double operator[](Which which) const {
    return all_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] auto& all() { return all_; }
  [[nodiscard]] const auto& all() const { return all_; }

 private:
  std::array<double, static_cast<std::size_t>(Which::end)> all_{};
};

struct CountedKernel {
  std::string name;
  Counts<KernelCount> counts;
};

struct CardCounts {
  Counts<CardCount> counts;
  std::vector<CountedKernel> kernels;
  bool overlaps = false; ///< its asynchronous copies are known to run beside its kernels
  /// Nothing where there is none of that name.
  [[nodiscard]] Counts<KernelCount> kernel(const std::string& name) const;
};

// --- counted on the emulated device

/// Of what the emulation has counted between two resets (emulation/user_reports.h). Of a kernel
/// that was watched in part the other threads are taken to be like those that were.
[[nodiscard]] CardCounts read_counts(const Value& counted);

/// A run, and what it asked for.
struct CountedRun {
  double nx = 0, ny = 0, steps = 0;
  CardCounts counts;
};

/// What a run would ask for. What is counted grows with columns, rows and steps, each by itself:
/// the copies of a row each, the cells, the launches of a step. So eight runs, `corners`, two
/// columns by two rows by two steps, in any order, give any other run (trilinear, exact where
/// nothing else grows).
[[nodiscard]] CardCounts card_counts_at(std::span<const CountedRun> corners, double nx, double ny,
                                        double steps);
/// What a step more adds to such a run.
[[nodiscard]] CardCounts counts_of_step(std::span<const CountedRun> corners, double nx, double ny,
                                        double steps);
/// The run without the copies of its field in each step: it stays on the card.
[[nodiscard]] CardCounts resident_counts(std::span<const CountedRun> corners, double nx, double ny,
                                         double steps);
/// Of a program that has `issued` launches of a kernel, of which so many `ran`, and had asked for
/// `first` and `last` before its first and its last one: what a launch more adds, with all that
/// goes with it.
[[nodiscard]] CardCounts counts_of_launch(const CardCounts& run, const CardCounts& first,
                                          const CardCounts& last, double issued, double ran);
/// That program without the copies that go with each launch.
[[nodiscard]] CardCounts resident_counts(const CardCounts& run, const CardCounts& launch,
                                         double launches);
/// How far the count that is farthest off is from what `corners` foretell of that run, as a
/// fraction of the larger of the two: 0 where all is as foretold, 1 where it has a kernel that they
/// do not have.
[[nodiscard]] double unevenness(std::span<const CountedRun> corners, const CountedRun& run);

// --- of our own backends, and of a code that is described

/// What a step has to do for a cell.
struct CellWork {
  Dtype dtype = Dtype::float32;
  double bytes = 0;            ///< read and written by a step, and what its arrays take in memory
  double copied_bytes = 0;     ///< of a copy of the field to the card or back
  double operations = 7;       ///< an fma counts as two
  std::int64_t per_launch = 1; ///< steps of one launch of the backend that takes several
};
/// Of per_launch: no kernel of the program goes deeper (kernels/src/tile_plan.cpp). Beyond 20 steps
/// halos are most of a strip in float64.
inline constexpr std::int64_t most_per_launch = 20;
/// The program's own; `cuda` takes 8 steps a launch.
[[nodiscard]] CellWork stencil_work(Dtype dtype);

struct CardRun {
  std::string_view backend = "cuda_stream"; ///< or cuda_graph, or cuda
  double cells = 0;
  double steps = 1;
  bool locked = true;           ///< the host's memory
  double trips = 1;             ///< of the field to the card and back
  double snapshots = 0;         ///< copies back on the way
  bool overlaps = false;        ///< snapshots, beside the steps
  bool waits_each_step = false; ///< else once before each copy back
};

[[nodiscard]] bool has_counts(std::string_view backend);
/// Throws std::logic_error for a backend that has none.
[[nodiscard]] CardCounts counts_of(const CardRun& run, const CellWork& work);
/// What two fields take.
[[nodiscard]] inline double device_bytes(const Problem& problem) {
  return 2 * static_cast<double>(problem.field_bytes());
}

} // namespace diffbench::bench
