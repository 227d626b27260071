// SPDX-License-Identifier: Apache-2.0
// Rung 40: the plain loop a C++ programmer writes, one thread, auto-vectorised.
// Against the NumPy-style rungs: no temporaries, so each cell is read and written once a step.
// Two fields with a ring of ghost cells; the ghosts are filled before every step.
#include "diffbench/backend.hpp"
#include "src/ghosted_field.hpp"

#include <utility>

namespace diffbench::backends {

namespace {

template <typename T>
class FusedSession final : public Session<T> {
 public:
  FusedSession(const Problem& problem, const SessionOptions& /*options*/)
      : problem_(problem), now_(make_ghosted<T>(problem)), next_(make_second_ghosted<T>(problem)) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    copy_in(problem_, first, cells, now_);
  }

  void advance(std::int64_t steps) override {
    const T factor = problem_.update_factor<T>();
    for (std::int64_t step = 0; step < steps; ++step) {
      fill_ghosts(problem_, now_);
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

  void download_rows(std::int64_t first, std::span<T> cells) override {
    copy_out(problem_, now_, first, cells);
  }

  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  Problem problem_;
  Field<T> now_;
  Field<T> next_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& /*options*/) {
  return {.host = 2 * ghosted_bytes(problem)};
}

} // namespace

BackendInfo fused() {
  return {.name = "fused",
          .description = "the plain C++ loop, one thread, auto-vectorised",
          .ladder = 40,
          .memory_need = memory_need,
          .make_float32 = BackendInfo::construct<FusedSession<float>>,
          .make_float64 = BackendInfo::construct<FusedSession<double>>};
}

} // namespace diffbench::backends
