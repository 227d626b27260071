// Rung 40: the plain loop a C++ programmer writes, one thread, auto-vectorised.
// Against the NumPy-style rungs: no temporaries, so each cell is read and written once a step.
// Two fields with a ring of ghost cells; the ghosts are filled before every step.
#include "diffbench/backend.hpp"
#include "diffbench/field.hpp"

#include <algorithm>
#include <utility>

namespace diffbench::backends {

namespace {

template <typename T>
class FusedSession final : public Session<T> {
 public:
  FusedSession(const Problem& problem, const SessionOptions& /*options*/)
      : problem_(problem),
        now_(problem.nx + 2, problem.ny + 2),
        next_(problem.nx + 2, problem.ny + 2) {}

  void upload(std::span<const T> cells) override {
    for (std::int64_t y = 0; y < problem_.ny; ++y) {
      std::copy_n(cells.data() + y * problem_.nx, problem_.nx, now_.row(y + 1) + 1);
    }
  }

  void advance(std::int64_t steps) override {
    const T factor = problem_.update_factor<T>();
    for (std::int64_t step = 0; step < steps; ++step) {
      fill_ghosts();
      for (std::int64_t y = 1; y <= problem_.ny; ++y) {
        const T* __restrict above = now_.row(y - 1);
        const T* __restrict centre = now_.row(y);
        const T* __restrict below = now_.row(y + 1);
        T* __restrict out = next_.row(y);
        for (std::int64_t x = 1; x <= problem_.nx; ++x) {
          const T lap = above[x] + below[x] + centre[x - 1] + centre[x + 1] - T{4} * centre[x];
          out[x] = centre[x] + factor * lap;
        }
      }
      std::swap(now_, next_);
    }
  }

  void wait() override {}

  void download(std::span<T> cells) override {
    for (std::int64_t y = 0; y < problem_.ny; ++y) {
      std::copy_n(now_.row(y + 1) + 1, problem_.nx, cells.data() + y * problem_.nx);
    }
  }

  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  // The corners are never read by a five-point stencil.
  void fill_ghosts() {
    const std::int64_t nx = problem_.nx;
    const std::int64_t ny = problem_.ny;
    const T constant = static_cast<T>(problem_.boundary_value);
    T* top = now_.row(0);
    T* bottom = now_.row(ny + 1);
    switch (problem_.boundary) {
      case Boundary::periodic:
        std::copy_n(now_.row(ny), nx + 2, top);
        std::copy_n(now_.row(1), nx + 2, bottom);
        break;
      case Boundary::dirichlet:
        std::fill_n(top, nx + 2, constant);
        std::fill_n(bottom, nx + 2, constant);
        break;
      case Boundary::neumann:
        std::copy_n(now_.row(1), nx + 2, top);
        std::copy_n(now_.row(ny), nx + 2, bottom);
        break;
    }
    for (std::int64_t y = 1; y <= ny; ++y) {
      T* row = now_.row(y);
      switch (problem_.boundary) {
        case Boundary::periodic:
          row[0] = row[nx];
          row[nx + 1] = row[1];
          break;
        case Boundary::dirichlet: row[0] = row[nx + 1] = constant; break;
        case Boundary::neumann:
          row[0] = row[1];
          row[nx + 1] = row[nx];
          break;
      }
    }
  }

  Problem problem_;
  Field<T> now_;
  Field<T> next_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& /*options*/) {
  return {.host = 2 * (problem.nx + 2) * (problem.ny + 2) * problem.element_bytes()};
}

template <typename T>
std::unique_ptr<Session<T>> make(const Problem& problem, const SessionOptions& options) {
  return std::make_unique<FusedSession<T>>(problem, options);
}

} // namespace

BackendInfo fused() {
  return {.name = "fused",
          .description = "the plain C++ loop, one thread, auto-vectorised",
          .ladder = 40,
          .memory_need = memory_need,
          .make_float32 = make<float>,
          .make_float64 = make<double>};
}

} // namespace diffbench::backends
