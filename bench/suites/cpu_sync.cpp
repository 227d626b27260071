// SPDX-License-Identifier: Apache-2.0
#include "cpu_sync.hpp"

#include "diffbench/workers.hpp"
#include "operation.hpp"

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

namespace diffbench::bench {

namespace {

/// Throws WrongResult unless `wait()`, called by all of `threads`, keeps them together. `run(job)`
/// calls job(thread) on each of them.
template <typename Run, typename Wait>
void check_barrier(int threads, Run run, Wait wait) {
  constexpr int rounds = 100;
  std::vector<std::atomic<int>> reached(static_cast<std::size_t>(threads));
  std::atomic<int> early = 0;
  run([&](int thread) {
    for (int round = 1; round <= rounds; ++round) {
      reached[static_cast<std::size_t>(thread)].store(round, std::memory_order_relaxed);
      wait();
      for (const std::atomic<int>& other : reached) {
        early += other.load(std::memory_order_relaxed) < round ? 1 : 0;
      }
      wait();
    }
  });
  bool all = early == 0;
  for (const std::atomic<int>& count : reached) {
    all = all && count == rounds;
  }
  if (!all) {
    throw WrongResult("a thread passed the barrier before all had reached it");
  }
}

/// `count` barriers in one job, so that the job's own start and end do not count.
template <typename Run, typename Wait>
Operation checked_barrier(int threads, Run run, Wait wait) {
  check_barrier(threads, run, wait);
  return [=](std::int64_t count) {
    run([&](int) {
      for (std::int64_t i = 0; i < count; ++i) {
        wait();
      }
    });
  };
}

Operation team_barrier(int threads) {
  const auto team = std::make_shared<Workers>(threads);
  return checked_barrier(
      threads, [team](const auto& job) { team->run(job); }, [team] { team->barrier(); });
}

// On the same team, so that only the barrier differs.
Operation std_barrier(int threads) {
  const auto team = std::make_shared<Workers>(threads);
  const auto gate = std::make_shared<std::barrier<>>(threads);
  return checked_barrier(
      threads, [team](const auto& job) { team->run(job); }, [gate] { gate->arrive_and_wait(); });
}

/// job(thread) on each of `threads` threads of OpenMP's.
template <typename Job>
void openmp_run(int threads, const Job& job) {
  std::atomic<int> next = 0;
#pragma omp parallel num_threads(threads)
  job(next++);
}

/// Throws Unavailable where the environment (OMP_THREAD_LIMIT, OMP_DYNAMIC) lets OpenMP take fewer.
void require_openmp_threads(int threads) {
  std::atomic<int> started = 0;
  openmp_run(threads, [&](int) { ++started; });
  if (started != threads) {
    throw Unavailable(
        "OpenMP starts fewer threads than it is asked for; unset OMP_THREAD_LIMIT "
        "and OMP_DYNAMIC");
  }
}

Operation openmp_barrier(int threads) {
  require_openmp_threads(threads);
  return checked_barrier(
      threads, [threads](const auto& job) { openmp_run(threads, job); },
      [] {
#pragma omp barrier
      });
}

Operation team_run(int threads) {
  return [team = std::make_shared<Workers>(threads)](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      team->run([](int) {});
    }
  };
}

Operation openmp_region(int threads) {
  require_openmp_threads(threads);
  return [threads](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
#pragma omp parallel num_threads(threads)
      std::atomic_signal_fence(std::memory_order_seq_cst); // an empty region would be left out
    }
  };
}

Operation thread_start(int threads) {
  return [threads](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<std::jthread> started;
      for (int thread = 1; thread < threads; ++thread) {
        started.emplace_back([] {});
      }
    }
  };
}

constexpr CpuSync all[] = {{"team_barrier", team_barrier},     {"std_barrier", std_barrier},
                           {"openmp_barrier", openmp_barrier}, {"team_run", team_run},
                           {"openmp_region", openmp_region},   {"thread_start", thread_start}};

} // namespace

std::span<const CpuSync> cpu_syncs() { return all; }

} // namespace diffbench::bench
