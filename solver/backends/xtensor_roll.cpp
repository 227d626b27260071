// SPDX-License-Identifier: Apache-2.0
// Rung 20: the NumPy line, transcribed word for word to xtensor. One thread.
// What it teaches: what is lazy and what is not. The arithmetic is: it runs as one loop over all
// operands, which NumPy needs seven for. xt::roll (0.24) is not: like np.roll it returns a copy,
// made cell by cell, so a step still fills four temporary fields. Transcribing NumPy brings NumPy's
// speed; `xtensor` shows what the layout has to do with it. The memory of the temporaries is kept
// from step to step (kept_memory.hpp), as it is for the peer numpy_pooled.
#include "diffbench/backend.hpp"
#include "src/kept_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <xtensor/xmanipulation.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

namespace diffbench::backends {

namespace {

template <typename T>
class XtensorRollSession final : public Session<T> {
 public:
  XtensorRollSession(const Problem& problem, const SessionOptions& /*options*/)
      : problem_(problem), u_(shape(problem)), next_(shape(problem)) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    std::ranges::copy(cells, u_.data() + first * problem_.nx);
  }

  void advance(std::int64_t steps) override {
    for (std::int64_t step = 0; step < steps; ++step) {
      if (problem_.boundary == Boundary::periodic) {
        roll_step();
      } else {
        pad_step();
      }
    }
  }

  void wait() override {}
  void download_rows(std::int64_t first, std::span<T> cells) override {
    std::copy_n(u_.data() + first * problem_.nx, cells.size(), cells.begin());
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  // Of its temporaries, too: they have the allocator of what they are computed from.
  using Array = xt::xtensor<T, 2, xt::layout_type::row_major, KeptMemory<T>>;

  static std::array<std::size_t, 2> shape(const Problem& problem) {
    return {static_cast<std::size_t>(problem.ny), static_cast<std::size_t>(problem.nx)};
  }

  void roll_step() {
    const auto lap = xt::roll(u_, +1, 0) + xt::roll(u_, -1, 0) + xt::roll(u_, +1, 1) +
                     xt::roll(u_, -1, 1) - T{4} * u_;
    xt::noalias(next_) = u_ + problem_.update_factor<T>() * lap;
    std::swap(u_, next_);
  }

  // The other boundary conditions as NumPy code writes them: np.pad, then shifted views. The
  // padding is spelled out: xt::pad has no edge mode, and in xtensor 0.24.3 it leaves the inside
  // empty.
  void pad_step() {
    using xt::all;
    using xt::range;
    const std::ptrdiff_t nx = problem_.nx;
    const std::ptrdiff_t ny = problem_.ny;
    Array p(std::array{u_.shape(0) + 2, u_.shape(1) + 2});
    p.fill(static_cast<T>(problem_.boundary_value));
    auto inside = xt::view(p, range(1, ny + 1), range(1, nx + 1));
    xt::noalias(inside) = u_;
    if (problem_.boundary == Boundary::neumann) {
      xt::view(p, 0, all()) = xt::view(p, 1, all());
      xt::view(p, ny + 1, all()) = xt::view(p, ny, all());
      xt::view(p, all(), 0) = xt::view(p, all(), 1);
      xt::view(p, all(), nx + 1) = xt::view(p, all(), nx);
    }
    const auto lap = xt::view(p, range(0, ny), range(1, nx + 1)) +
                     xt::view(p, range(2, ny + 2), range(1, nx + 1)) +
                     xt::view(p, range(1, ny + 1), range(0, nx)) +
                     xt::view(p, range(1, ny + 1), range(2, nx + 2)) - T{4} * u_;
    xt::noalias(next_) = u_ + problem_.update_factor<T>() * lap;
    std::swap(u_, next_);
  }

  Problem problem_;
  typename KeptMemory<T>::Lease lease_;
  Array u_;
  Array next_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& /*options*/) {
  // The field, its successor, and four rolled copies or one padded copy.
  return {.host = (problem.boundary == Boundary::periodic ? 6 : 4) * problem.field_bytes()};
}

} // namespace

BackendInfo xtensor_roll() {
  return {.name = "xtensor_roll",
          .description =
              "the NumPy expression with xt::roll, one thread: four temporary fields "
              "a step",
          .ladder = 20,
          .memory_need = memory_need,
          .make_float32 = BackendInfo::construct<XtensorRollSession<float>>,
          .make_float64 = BackendInfo::construct<XtensorRollSession<double>>};
}

} // namespace diffbench::backends
