// SPDX-License-Identifier: Apache-2.0
// The session of diffbench_try.h round a user's solve() or kernel step(). Included before the
// user's code; the functions themselves come after it and say which form the file has.
#pragma once

#include <cuda_runtime.h>

#include <emulation/user_reports.h>

#include <diffbench_try.h>

#include <cstdint>
#include <cstring>

/// "session", "solve" or "step".
extern "C" const char* diffbench_try_form();

namespace diffbench::emulation::detail {

/// An array of the host between zones that nobody may write to.
template <typename T>
class GuardedField {
 public:
  explicit GuardedField(std::size_t cells)
      : cells_(cells), memory_(static_cast<T*>(std::malloc((cells + 2 * zone) * sizeof(T)))) {
    std::memset(memory_, 0xfd, (cells + 2 * zone) * sizeof(T));
    poison();
  }
  GuardedField(const GuardedField&) = delete;
  GuardedField& operator=(const GuardedField&) = delete;
  ~GuardedField() { std::free(memory_); }
  T* data() { return memory_ + zone; }
  void poison() { std::memset(data(), 0xff, cells_ * sizeof(T)); }
  [[nodiscard]] bool untouched_around() const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_);
    for (std::size_t i = 0; i < zone * sizeof(T); ++i) {
      if (bytes[i] != 0xfd || bytes[(cells_ + zone) * sizeof(T) + i] != 0xfd) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t zone = 64;
  std::size_t cells_;
  T* memory_;
};

template <typename T>
struct SolveSession {
  using Function = void (*)(const T* in, T* out, int nx, int ny, int steps, T factor);

  SolveSession(const diffbench_problem& its_problem, Function its_solve)
      : problem(its_problem), solve(its_solve), cells(count(its_problem)), in(cells), out(cells) {}
  static std::size_t count(const diffbench_problem& p) {
    return static_cast<std::size_t>(p.nx) * static_cast<std::size_t>(p.ny);
  }

  int upload(const T* field) {
    std::memcpy(result(), field, cells * sizeof(T));
    steps = 0;
    return 0;
  }
  int advance(std::int64_t more) {
    steps += more;
    return 0;
  }
  int wait() {
    if (steps == 0) {
      return 0;
    }
    GuardedField<T>& from = in_has_result ? in : out;
    GuardedField<T>& to = in_has_result ? out : in;
    to.poison();
    GuardedField<T> before(cells);
    std::memcpy(before.data(), from.data(), cells * sizeof(T));
    solve(from.data(), to.data(), problem.nx, problem.ny, static_cast<int>(steps),
          static_cast<T>(problem.factor));
    GuardedField<T> returned(cells); // what is there now; copies may still be under way
    std::memcpy(returned.data(), to.data(), cells * sizeof(T));
    solve_returned();
    std::memcpy(to.data(), returned.data(), cells * sizeof(T));
    if (std::memcmp(before.data(), from.data(), cells * sizeof(T)) != 0) {
      report_entry(false, "solve has changed its input");
    }
    if (!from.untouched_around() || !to.untouched_around()) {
      report_entry(true, "solve has written beside its arrays");
    }
    in_has_result = !in_has_result;
    steps = 0;
    return 0;
  }
  int download(T* field) {
    const int result_of_wait = wait();
    std::memcpy(field, result(), cells * sizeof(T));
    return result_of_wait;
  }
  T* result() { return (in_has_result ? in : out).data(); }

  diffbench_problem problem;
  Function solve;
  std::size_t cells;
  GuardedField<T> in, out;
  bool in_has_result = true;
  std::int64_t steps = 0;
};

template <typename T>
struct StepSession {
  using Launch = void (*)(const T* u, T* out, int nx, int ny, T factor);

  StepSession(const diffbench_problem& its_problem, Launch its_launch, unsigned its_block_x,
              unsigned its_block_y)
      : problem(its_problem),
        launch(its_launch),
        block(its_block_x, its_block_y),
        bytes(SolveSession<T>::count(its_problem) * sizeof(T)) {
    cudaMalloc(&u, bytes);
    cudaMalloc(&next, bytes);
  }
  StepSession(const StepSession&) = delete;
  StepSession& operator=(const StepSession&) = delete;
  ~StepSession() {
    cudaFree(u);
    cudaFree(next);
  }

  int upload(const T* field) { return cudaMemcpy(u, field, bytes, cudaMemcpyHostToDevice); }
  int advance(std::int64_t steps) {
    const auto blocks = [](int cells, unsigned threads) {
      return (static_cast<unsigned>(cells) + threads - 1) / threads;
    };
    const dim3 grid(blocks(problem.nx, block.x), blocks(problem.ny, block.y));
    for (std::int64_t i = 0; i < steps; ++i) {
      poison_device(next, bytes); // a cell that the kernel leaves out is NaN
      emulated_configure(grid, block);
      launch(u, next, problem.nx, problem.ny, static_cast<T>(problem.factor));
      if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
        return error;
      }
      T* const former = u;
      u = next;
      next = former;
    }
    return 0;
  }
  int wait() { return cudaDeviceSynchronize(); }
  int download(T* field) { return cudaMemcpy(field, u, bytes, cudaMemcpyDeviceToHost); }

  diffbench_problem problem;
  Launch launch;
  dim3 block;
  std::size_t bytes;
  T* u = nullptr;
  T* next = nullptr;
};

} // namespace diffbench::emulation::detail
