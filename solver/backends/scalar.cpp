// SPDX-License-Identifier: Apache-2.0
// Rung 0: the dullest loop, one thread, in place. It is the oracle (verify.hpp) as a backend, so
// that the oracle's own speed stands in the table.
#include "diffbench/backend.hpp"
#include "diffbench/verify.hpp"

#include <algorithm>

namespace diffbench::backends {

namespace {

template <typename T>
class ScalarSession final : public Session<T> {
 public:
  ScalarSession(const Problem& problem, const SessionOptions& /*options*/)
      : problem_(problem), field_(problem.nx, problem.ny) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    std::ranges::copy(cells, field_.row(first));
  }
  void advance(std::int64_t steps) override { advance_reference(problem_, field_, steps); }
  void wait() override {}
  void download_rows(std::int64_t first, std::span<T> cells) override {
    std::copy_n(field_.row(first), cells.size(), cells.begin());
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  Problem problem_;
  Field<T> field_;
};

MemoryNeed memory_need(const Problem& problem, const SessionOptions& /*options*/) {
  return {.host = problem.field_bytes()};
}

} // namespace

BackendInfo scalar() {
  return {.name = "scalar",
          .description = "the simplest loop, one thread: the oracle",
          .ladder = 10,
          .memory_need = memory_need,
          .make_float32 = BackendInfo::construct<ScalarSession<float>>,
          .make_float64 = BackendInfo::construct<ScalarSession<double>>};
}

} // namespace diffbench::backends
