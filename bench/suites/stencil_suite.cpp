// SPDX-License-Identifier: Apache-2.0
// The benchmarks stencil/: time steps of every backend, dtype and grid.
#include "diffbench/field.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/problem.hpp"
#include "diffbench/verify.hpp"
#include "digest.hpp"
#include "suite.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr std::int64_t grids[] = {64, 256, 640, 2048, 4096};

/// Steps of a sample: as many on each backend of a kind, so that the samples do the same work. The
/// slowest CPU backends need about half a second for it; a GPU gets more, so that its first launch
/// does not count. At most as many as the main job has.
std::int64_t steps_of_sample(const Problem& problem, DeviceKind device) {
  std::int64_t cell_updates = 1LL << 27;
  switch (device) {
    case DeviceKind::cpu: break;
    case DeviceKind::cuda: cell_updates = 1LL << 31; break;
    case DeviceKind::emulated: cell_updates = 1LL << 15; break;
  }
  return std::clamp<std::int64_t>(cell_updates / problem.cells(), 1, 1000);
}

template <typename T>
Field<T> initial_field(const Problem& problem) {
  Field<T> field(problem.nx, problem.ny);
  fill_initial(problem, InitialField{}, field);
  return field;
}

/// Computed once for all backends.
template <typename T>
const std::string& reference_digest(const Problem& problem, std::int64_t steps) {
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::string> digests;
  std::string& digest = digests[{problem.nx, problem.ny, steps}];
  if (digest.empty()) {
    Field<T> field = initial_field<T>(problem);
    advance_reference(problem, field, steps);
    digest = sha256_of_cells(std::as_const(field).cells());
  }
  return digest;
}

void check_memory(const BackendInfo& backend, const Problem& problem) {
  // Beside the session: the initial field, and the result or the reference.
  std::int64_t need = 2 * problem.field_bytes();
  if (backend.memory_need != nullptr) {
    need += backend.memory_need(problem, {}).host;
  }
  require_memory("host", need, available_memory());
}

template <typename T>
Repetition prepare_stencil(const BackendInfo& backend, const Problem& problem, std::int64_t steps) {
  check_memory(backend, problem);
  const auto initial = std::make_shared<const Field<T>>(initial_field<T>(problem));
  const std::shared_ptr<Session<T>> session = backend.make<T>()(problem, SessionOptions{});
  Field<T> result(problem.nx, problem.ny);
  session->upload(initial->cells());
  session->advance(steps);
  session->download(result.cells());
  if (sha256_of_cells(std::as_const(result).cells()) != reference_digest<T>(problem, steps)) {
    throw WrongResult(fmt::format("after {} steps the field is not the reference's", steps));
  }
  if (backend.device == DeviceKind::emulated) {
    return {};
  }
  return [=](benchmark::State& state) {
    session->upload(initial->cells());
    session->wait();
    while (state.KeepRunningBatch(steps)) {
      session->advance(steps);
      session->wait();
    }
    count_rate(state, "cells_per_second", static_cast<double>(problem.cells()));
    count_rate(state, "bytes_per_second", static_cast<double>(problem.bytes_per_step()));
    set_label(state, session->provenance());
  };
}

void add_stencil(const BackendInfo& backend, Dtype dtype, std::int64_t grid) {
  const Problem problem{.nx = grid, .ny = grid, .dtype = dtype};
  const std::int64_t steps = steps_of_sample(problem, backend.device);
  add_benchmark(fmt::format("stencil/{}/{}/{}x{}", backend.name, to_string(dtype), grid, grid),
                steps, [=] {
                  return dtype == Dtype::float32 ? prepare_stencil<float>(backend, problem, steps)
                                                 : prepare_stencil<double>(backend, problem, steps);
                });
}

} // namespace

void add_stencils(std::span<const BackendInfo> backends, std::span<const NotCompiled> missing) {
  for (const BackendInfo& backend : backends) {
    if (const Probe probe = backend.probe(0); !probe.available) {
      add_skipped(fmt::format("stencil/{}", backend.name), probe.reason);
    }
  }
  for (const NotCompiled& backend : missing) {
    add_skipped(fmt::format("stencil/{}", backend.name),
                fmt::format("not compiled: {}", backend.how_to_get));
  }
  // Backends side by side on the same problem.
  for (const std::int64_t grid : grids) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      for (const BackendInfo& backend : backends) {
        // The emulation proves the code; large fields would prove nothing more.
        const bool too_large = backend.device == DeviceKind::emulated && grid > grids[0];
        if (backend.probe(0).available && !too_large) {
          add_stencil(backend, dtype, grid);
        }
      }
    }
  }
}

} // namespace diffbench::bench
