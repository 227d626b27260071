// SPDX-License-Identifier: Apache-2.0
// Rung 30: still whole-array expressions, but laid out so that xsimd vectorises them. One thread.
// Against `xtensor_roll`: the field has a ring of ghost cells and is seen as one flat array, in
// which the neighbours of all cells are the same array shifted by one cell or one row. Flat,
// contiguous adaptors are what xtensor hands to xsimd; 2D views are not. The ghost columns between
// two rows take part and come out as garbage, which the next filling of the ghost cells overwrites.
#include "diffbench/backend.hpp"
#include "src/ghosted_field.hpp"

#include <array>
#include <cstddef>

#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

namespace diffbench::backends {

namespace {

template <typename T>
class XtensorSession final : public Session<T> {
 public:
  XtensorSession(const Problem& problem, const SessionOptions& /*options*/)
      : problem_(problem), now_(make_ghosted<T>(problem)), next_(make_second_ghosted<T>(problem)) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    copy_in(problem_, first, cells, now_);
  }

  void advance(std::int64_t steps) override {
    const T factor = problem_.update_factor<T>();
    for (std::int64_t step = 0; step < steps; ++step) {
      fill_ghosts(problem_, now_);
      const auto u = shifted(now_, 0, 0);
      const auto lap = shifted(now_, -1, 0) + shifted(now_, +1, 0) + shifted(now_, 0, -1) +
                       shifted(now_, 0, +1) - T{4} * u;
      auto next = shifted(next_, 0, 0);
      xt::noalias(next) = u + factor * lap;
      std::swap(now_, next_);
    }
  }

  void wait() override {}

  void download_rows(std::int64_t first, std::span<T> cells) override {
    copy_out(problem_, now_, first, cells);
  }

  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  // All cells from the first to the last of the grid, with the ghost columns between them, moved by
  // dy rows and dx columns: a flat array.
  auto shifted(Field<T>& field, std::int64_t dy, std::int64_t dx) {
    const auto size = static_cast<std::size_t>(problem_.ny * field.nx() - 2);
    return xt::adapt(field.row(1 + dy) + 1 + dx, size, xt::no_ownership(),
                     std::array<std::size_t, 1>{size});
  }

  Problem problem_;
  Field<T> now_;
  Field<T> next_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& /*options*/) {
  return {.host = 2 * ghosted_bytes(problem)};
}

} // namespace

BackendInfo xtensor() {
  return {.name = "xtensor",
          .description = "whole-array expressions on flat arrays, vectorised by xsimd, one thread",
          .ladder = 30,
          .memory_need = memory_need,
          .make_float32 = BackendInfo::construct<XtensorSession<float>>,
          .make_float64 = BackendInfo::construct<XtensorSession<double>>};
}

} // namespace diffbench::backends
