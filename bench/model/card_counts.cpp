// SPDX-License-Identifier: Apache-2.0
#include "card_counts.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

namespace diffbench::bench {

namespace {

// --- the emulation's JSON ------------------------------------------------------------------------

struct Source {
  CardCount which;
  const char* path;
};
using Count = CardCount;
constexpr Source sources[] = {
    {Count::managed_in_bytes, "migrated.to_device"},
    {Count::managed_out_bytes, "migrated.to_host"},
    {Count::waits, "waits"},
    {Count::drains, "drains"},
    {Count::frees, "frees"},
    {Count::allocations, "allocations.device.calls"},
    {Count::allocations, "allocations.managed.calls"},
};
/// What has calls and bytes.
struct PairSource {
  CardCount calls, bytes;
  const char* path;
};
constexpr PairSource pair_sources[] = {
    {Count::pageable_in_calls, Count::pageable_in_bytes, "copies.to_device.pageable"},
    {Count::pageable_out_calls, Count::pageable_out_bytes, "copies.to_host.pageable"},
    {Count::locked_in_calls, Count::locked_in_bytes, "copies.to_device.pinned"},
    {Count::locked_in_calls, Count::locked_in_bytes, "copies.to_device.registered"},
    {Count::locked_out_calls, Count::locked_out_bytes, "copies.to_host.pinned"},
    {Count::locked_out_calls, Count::locked_out_bytes, "copies.to_host.registered"},
    {Count::async_in_calls, Count::async_in_bytes, "async_copies.to_device"},
    {Count::async_out_calls, Count::async_out_bytes, "async_copies.to_host"},
    {Count::card_copy_calls, Count::card_copy_bytes, "copies.on_device.pageable"},
    {Count::memset_calls, Count::memset_bytes, "memsets"},
    {Count::lock_calls, Count::lock_bytes, "allocations.pinned"},
    {Count::lock_calls, Count::lock_bytes, "allocations.registered"},
};
struct KernelSource {
  KernelCount which;
  const char* key;
};
constexpr KernelSource kernel_sources[] = {
    {KernelCount::launches, "launches"},
    {KernelCount::graph_launches, "graph_launches"},
    {KernelCount::asked_bytes, "bytes_read"},
    {KernelCount::asked_bytes, "bytes_written"},
    {KernelCount::distinct_bytes, "distinct_read"},
    {KernelCount::distinct_bytes, "distinct_written"},
    {KernelCount::moved_bytes, "moved_read"},
    {KernelCount::moved_bytes, "moved_written"},
    {KernelCount::mapped_in_bytes, "mapped.distinct_read"},
    {KernelCount::mapped_out_bytes, "mapped.distinct_written"},
    {KernelCount::mapped_in_moved, "mapped.moved_read"},
    {KernelCount::mapped_out_moved, "mapped.moved_written"},
    {KernelCount::written_bytes, "distinct_written"},
    {KernelCount::written_bytes, "mapped.distinct_written"},
};

// --- from small runs to any ----------------------------------------------------------------------

template <typename Which>
void add_scaled(Counts<Which>& to, const Counts<Which>& what, double weight) {
  for (std::size_t i = 0; i < to.all().size(); ++i) {
    to.all()[i] += weight * what.all()[i];
  }
}

void add_scaled(CardCounts& to, const CardCounts& what, double weight) {
  add_scaled(to.counts, what.counts, weight);
  for (const CountedKernel& kernel : what.kernels) {
    auto known = std::ranges::find(to.kernels, kernel.name, &CountedKernel::name);
    if (known == to.kernels.end()) {
      known = to.kernels.insert(known, {.name = kernel.name, .counts = {}});
    }
    add_scaled(known->counts, kernel.counts, weight);
  }
}

/// The weight of `at` where `wanted` lies between the ends of `runs`, or beyond them.
double weight_of(std::span<const CountedRun> runs, double CountedRun::*axis, double at,
                 double wanted) {
  const auto [low, high] = std::ranges::minmax(runs, {}, axis);
  const double fraction = (wanted - low.*axis) / (high.*axis - low.*axis);
  return at == high.*axis ? fraction : 1 - fraction;
}

template <typename Which>
double largest_difference(const Counts<Which>& one, const Counts<Which>& other) {
  double largest = 0;
  for (std::size_t i = 0; i < one.all().size(); ++i) {
    const double scale = std::max(one.all()[i], other.all()[i]);
    if (scale > 0) {
      largest = std::max(largest, std::abs(one.all()[i] - other.all()[i]) / scale);
    }
  }
  return largest;
}

/// Of nearly equal counts: what rounding leaves is nothing.
CardCounts difference(CardCounts of, const CardCounts& less) {
  const auto clean = [](auto& counts, const auto& before) {
    for (std::size_t i = 0; i < counts.all().size(); ++i) {
      const double noise = 1e-6 + 1e-9 * before.all()[i];
      counts.all()[i] = counts.all()[i] < noise ? 0 : counts.all()[i];
    }
  };
  add_scaled(of, less, -1);
  clean(of.counts, less.counts);
  for (CountedKernel& kernel : of.kernels) {
    clean(kernel.counts, less.kernel(kernel.name));
  }
  return of;
}

/// `is_field(calls, bytes)`: whether these counts of a step are copies of the field.
CardCounts without_copies_of_steps(CardCounts run, CardCounts step, const auto& is_field,
                                   double steps) {
  constexpr Count copied[] = {Count::pageable_in_bytes, Count::pageable_out_bytes,
                              Count::locked_in_bytes,   Count::locked_out_bytes,
                              Count::async_in_bytes,    Count::async_out_bytes,
                              Count::managed_in_bytes,  Count::managed_out_bytes};
  for (const Count bytes : copied) {
    const auto* pair = std::ranges::find(pair_sources, bytes, &PairSource::bytes);
    const Count calls = pair == std::end(pair_sources) ? Count::end : pair->calls;
    const bool goes = is_field(calls, bytes);
    for (const Count each : {calls, bytes}) {
      if (each != Count::end) {
        step.counts[each] *= goes ? 1 : 0;
        run.counts[each] -= std::min(run.counts[each], steps * step.counts[each]);
      }
    }
  }
  // What kernels reach for on the host is on the card.
  for (CountedKernel& kernel : run.kernels) {
    const Counts<KernelCount> of_step = step.kernel(kernel.name);
    for (const auto& [bytes, moved] :
         {std::pair(KernelCount::mapped_in_bytes, KernelCount::mapped_in_moved),
          std::pair(KernelCount::mapped_out_bytes, KernelCount::mapped_out_moved)}) {
      const double reached = std::min(kernel.counts[bytes], steps * of_step[bytes]);
      kernel.counts[bytes] -= reached;
      kernel.counts[moved] -= std::min(kernel.counts[moved], steps * of_step[moved]);
      kernel.counts[KernelCount::distinct_bytes] += reached;
    }
  }
  // Nobody need wait for a step then.
  if (step.counts[CardCount::pageable_out_calls] + step.counts[CardCount::locked_out_calls] +
          step.counts[CardCount::managed_out_bytes] >
      0) {
    for (const CardCount waited : {CardCount::waits, CardCount::drains}) {
      run.counts[waited] -= std::min(run.counts[waited], steps * step.counts[waited]);
    }
  }
  return run;
}

// --- our own backends ----------------------------------------------------------------------------

/// How a backend issues its steps. All have one kernel that reads and writes each array once a
/// launch, but for halos.
struct OwnBackend {
  std::string_view name;
  bool in_graphs;
  bool several_steps; ///< CellWork::per_launch of them a launch
};
constexpr OwnBackend own_backends[] = {
    {"cuda_stream", false, false}, {"cuda_graph", true, false}, {"cuda", true, true}};

/// What is loaded, of what is stored, by a kernel of several steps: warps that stream down strips
/// load `steps` columns on each side and `3 steps` rows that they do not store
/// (kernels/src/streamed.cuh). At best strips are so long that these rows do not count; at worst
/// they store 4 rows a step, the least that pays (kernels/src/tile_plan.cpp).
Assumption loaded_of_stored(Dtype dtype, double steps) {
  const double columns = dtype == Dtype::float32 ? 256 : 128; // 32 lanes of 32 bytes
  const double wide = steps > 1 ? columns / (columns - 2 * steps) : 1;
  return {wide, steps > 1 ? wide * (1 + 3.0 / 4) : 1};
}

} // namespace

Counts<KernelCount> CardCounts::kernel(const std::string& name) const {
  const auto found = std::ranges::find(kernels, name, &CountedKernel::name);
  return found == kernels.end() ? Counts<KernelCount>() : found->counts;
}

CardCounts read_counts(const Value& counted) {
  CardCounts all;
  for (const Source& source : sources) {
    all.counts[source.which] += counted.find(source.path).number();
  }
  for (const PairSource& source : pair_sources) {
    all.counts[source.calls] += counted.find(source.path).find("calls").number();
    all.counts[source.bytes] += counted.find(source.path).find("bytes").number();
  }
  for (const Value& each : counted.find("kernels").elements()) {
    CountedKernel kernel{.name = each.find("name").plain_text(), .counts = {}};
    const double watched = each.find("watched_threads").number();
    const double scale = watched > 0 ? each.find("threads").number() / watched : 1;
    const double footprint = each.find("footprint").number();
    for (const KernelSource& source : kernel_sources) {
      const std::string_view key = source.key;
      double count = each.find(key).number() * (key.ends_with("launches") ? 1 : scale);
      if (scale > 1 && footprint > 0 && key.find("distinct") != std::string_view::npos) {
        count = std::min(count, footprint); // blocks may touch the same sectors
      }
      kernel.counts[source.which] += count;
    }
    all.kernels.push_back(std::move(kernel));
  }
  return all;
}

CardCounts card_counts_at(std::span<const CountedRun> corners, double nx, double ny, double steps) {
  CardCounts all;
  for (const CountedRun& corner : corners) {
    add_scaled(all, corner.counts,
               weight_of(corners, &CountedRun::nx, corner.nx, nx) *
                   weight_of(corners, &CountedRun::ny, corner.ny, ny) *
                   weight_of(corners, &CountedRun::steps, corner.steps, steps));
  }
  const auto not_below_zero = [](auto& counts) {
    for (double& count : counts.all()) {
      count = std::max(0.0, count);
    }
  };
  not_below_zero(all.counts);
  for (CountedKernel& kernel : all.kernels) {
    not_below_zero(kernel.counts);
  }
  return all;
}

CardCounts counts_of_step(std::span<const CountedRun> corners, double nx, double ny, double steps) {
  return difference(card_counts_at(corners, nx, ny, steps + 1),
                    card_counts_at(corners, nx, ny, steps));
}

CardCounts resident_counts(std::span<const CountedRun> corners, double nx, double ny,
                           double steps) {
  const CardCounts step = counts_of_step(corners, nx, ny, steps);
  const CardCounts larger = counts_of_step(corners, 2 * nx, 2 * ny, steps);
  // Parameters and residuals are as large in a larger field, and stay.
  const auto is_field = [&](Count, Count bytes) {
    return std::abs(larger.counts[bytes] - step.counts[bytes]) >= 0.5;
  };
  return without_copies_of_steps(card_counts_at(corners, nx, ny, steps), step, is_field, steps);
}

CardCounts counts_of_launch(const CardCounts& run, const CardCounts& first, const CardCounts& last,
                            double issued, double ran) {
  CardCounts launch;
  add_scaled(launch.counts, difference(last, first).counts, 1 / std::max(1.0, issued - 1));
  for (const CountedKernel& kernel : run.kernels) {
    if (2 * kernel.counts[KernelCount::launches] >= ran) { // and not only before all others
      launch.kernels.push_back({.name = kernel.name, .counts = {}});
      add_scaled(launch.kernels.back().counts, kernel.counts, 1 / std::max(1.0, ran));
    }
  }
  return launch;
}

CardCounts resident_counts(const CardCounts& run, const CardCounts& launch, double launches) {
  constexpr double least = 1024; // bytes: less are parameters and residuals
  const auto is_field = [&](Count calls, Count bytes) {
    const double travels = calls == Count::end ? 1 : launch.counts[calls];
    return travels >= 0.5 && launch.counts[bytes] >= least * travels;
  };
  return without_copies_of_steps(run, launch, is_field, launches - 1);
}

double unevenness(std::span<const CountedRun> corners, const CountedRun& run) {
  const CardCounts foretold = card_counts_at(corners, run.nx, run.ny, run.steps);
  double largest = largest_difference(foretold.counts, run.counts.counts);
  for (const CountedKernel& kernel : run.counts.kernels) {
    largest = std::max(largest, largest_difference(foretold.kernel(kernel.name), kernel.counts));
  }
  return largest;
}

CellWork stencil_work(Dtype dtype) {
  const double element = dtype == Dtype::float32 ? 4 : 8;
  return {.dtype = dtype, .bytes = 2 * element, .copied_bytes = element, .per_launch = 8};
}

bool has_counts(std::string_view backend) {
  return std::ranges::find(own_backends, backend, &OwnBackend::name) != std::end(own_backends);
}

CardCounts counts_of(const CardRun& run, const CellWork& work) {
  const auto* backend = std::ranges::find(own_backends, run.backend, &OwnBackend::name);
  if (backend == std::end(own_backends)) {
    throw std::logic_error("no counts of that backend");
  }
  const double stretches = std::max(
      {1.0, run.trips, run.overlaps ? 0 : run.snapshots, run.waits_each_step ? run.steps : 0});
  const double stretch = std::max(1.0, run.steps / stretches);
  const double per_launch =
      std::min(backend->several_steps ? static_cast<double>(work.per_launch) : 1, stretch);
  const double launches = stretches * std::ceil(stretch / per_launch - 1e-9);
  const double field = run.cells * work.copied_bytes;
  const Assumption loaded = loaded_of_stored(work.dtype, per_launch);
  const double half = launches * run.cells * work.bytes / 2; // read, and as much is written

  CountedKernel kernel{.name = std::string(run.backend), .counts = {}};
  kernel.counts[KernelCount::launches] = launches;
  kernel.counts[KernelCount::graph_launches] = backend->in_graphs ? launches : 0;
  kernel.counts[KernelCount::distinct_bytes] = half * (1 + loaded.low);
  kernel.counts[KernelCount::asked_bytes] = half * (1 + loaded.low);
  kernel.counts[KernelCount::moved_bytes] = half * (1 + loaded.high);
  kernel.counts[KernelCount::written_bytes] = half;
  CardCounts all{.counts = {}, .kernels = {std::move(kernel)}, .overlaps = run.overlaps};
  all.counts[CardCount::contexts] = 1;
  all.counts[CardCount::waits] = all.counts[CardCount::drains] = stretches;
  all.counts[run.locked ? CardCount::locked_in_calls : CardCount::pageable_in_calls] = run.trips;
  all.counts[run.locked ? CardCount::locked_in_bytes : CardCount::pageable_in_bytes] =
      run.trips * field;
  const double back = run.trips + run.snapshots;
  all.counts[run.locked ? CardCount::locked_out_calls : CardCount::pageable_out_calls] = back;
  all.counts[run.locked ? CardCount::locked_out_bytes : CardCount::pageable_out_bytes] =
      back * field;
  if (run.overlaps) { // but for the last one, which no step follows
    const double beside = std::max(0.0, run.snapshots - 1);
    all.counts[CardCount::async_out_calls] = beside;
    all.counts[CardCount::async_out_bytes] = beside * field;
  }
  if (run.locked) {
    all.counts[CardCount::lock_calls] = 1;
    all.counts[CardCount::lock_bytes] = field;
  }
  return all;
}

} // namespace diffbench::bench
