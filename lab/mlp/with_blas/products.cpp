// SPDX-License-Identifier: Apache-2.0
#include "mlp/timed_steps.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/mlp/openblas.hpp"
#include "interrupt.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

// Of OpenBLAS' cblas.h, in whose place a machine may have another BLAS'.
extern "C" void cblas_sgemm(int order, int transpose_a, int transpose_b, int rows, int columns,
                            int depth, float alpha, const float* a, int a_row, const float* b,
                            int b_row, float beta, float* c, int c_row);
extern "C" void openblas_set_num_threads(int threads);
extern "C" char* openblas_get_config();

namespace diffbench::bench {

namespace {

constexpr int row_major = 101;
constexpr int as_it_lies = 111;
constexpr int transposed = 112;

/// c[rows][columns] = a[rows][depth] b[depth][columns], a and b as they lie or transposed.
struct Product {
  int a, b;
  std::int64_t rows, columns, depth;
};

class ProductsSteps final : public TimedSteps {
 public:
  ProductsSteps(int threads, const TrainingJob& job) : threads_(threads) {
    mlp::load_openblas();
    const mlp::Network& network = job.training.network;
    const std::int64_t batch = job.training.batch;
    for (std::int64_t layer = 0; layer < network.layers(); ++layer) {
      const std::int64_t in = network.inputs(layer);
      const std::int64_t out = network.outputs(layer);
      products_.push_back({as_it_lies, transposed, batch, out, in}); // forward
      products_.push_back({transposed, as_it_lies, out, in, batch}); // gradient of the weights
      if (layer > 0) {
        products_.push_back({as_it_lies, as_it_lies, batch, in, out}); // of the inputs
      }
    }
    std::int64_t largest = 0;
    for (const Product& p : products_) {
      largest = std::max({largest, p.rows * p.depth, p.depth * p.columns, p.rows * p.columns});
    }
    for (std::vector<float>& matrix : matrices_) {
      matrix.assign(static_cast<std::size_t>(largest), 0.5F);
    }
  }

  Sample sample(std::int64_t steps) override {
    openblas_set_num_threads(threads_);
    const CpuTime cpu;
    const Stopwatch watch;
    for (std::int64_t step = 0; step < steps; ++step) {
      check_interrupt();
      for (const Product& product : products_) {
        multiply(product);
      }
    }
    return {.iterations = steps, .seconds = watch.seconds(), .cpu_seconds = cpu.seconds()};
  }
  void fetch(std::span<float> /*parameters*/) override {
    throw Error("products alone train nothing");
  }
  [[nodiscard]] Provenance provenance() const override {
    return {.threads = threads_, .details = {{"openblas", openblas_get_config()}}};
  }

 private:
  void multiply(const Product& p) {
    const auto rows = static_cast<int>(p.rows);
    const auto columns = static_cast<int>(p.columns);
    const auto depth = static_cast<int>(p.depth);
    cblas_sgemm(row_major, p.a, p.b, rows, columns, depth, 1, matrices_[0].data(),
                p.a == transposed ? rows : depth, matrices_[1].data(),
                p.b == transposed ? depth : columns, 0, matrices_[2].data(), columns);
  }

  int threads_;
  std::vector<Product> products_;
  std::array<std::vector<float>, 3> matrices_;
};

} // namespace

std::unique_ptr<TimedSteps> products_steps(int threads, const TrainingJob& job) {
  return std::make_unique<ProductsSteps>(threads, job);
}

} // namespace diffbench::bench
