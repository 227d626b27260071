// SPDX-License-Identifier: Apache-2.0
// Mistakes in what lies between the two readings of the clock.
#include "pitfall.hpp"
#include "untouched_memory.hpp"

#include "diffbench/machine.hpp"

#include <array>
#include <bit>

namespace diffbench::bench {

namespace {

/// A step into an array that nobody has written to, as from malloc or np.empty: each of its pages
/// costs a page fault. Later runs find the pages there.
Finding no_warm_up(Workbench& bench) {
  Solve<float> solve = bench.solve("fused", 1);
  UntouchedMemory<float> result(solve.initial().size());
  const auto run = [&] {
    solve.start();
    return bench.seconds([&] {
      solve.run();
      solve.session().download(result.elements());
    });
  };
  const auto was_right = [&] { return solve.is_result(result.elements()); };
  const auto first_run = [&] {
    result = UntouchedMemory<float>(solve.initial().size());
    return run();
  };
  return bench.in_turns({first_run, was_right}, {run, was_right});
}

Finding allocation_timed(Workbench& bench) {
  Solve<float> solve = bench.solve("fused", 10);
  const auto run = [&] {
    const double read = bench.seconds([&] {
      solve.start(); // makes the session where there is none
      solve.run();
    });
    solve.finish();
    return read;
  };
  const auto was_right = [&] { return solve.was_right(); };
  const auto from_nothing = [&] {
    solve.close();
    return run();
  };
  return bench.in_turns({from_nothing, was_right}, {run, was_right});
}

Finding copies_timed(Workbench& bench) {
  Solve<float> solve = bench.solve("fused", 1);
  const auto with_copies = [&] {
    return bench.seconds([&] {
      solve.start();
      solve.run();
      solve.finish();
    });
  };
  return bench.in_turns({with_copies, [&] { return solve.was_right(); }}, bench.timed_steps(solve));
}

/// The CPU's counterpart of an event pair round each short kernel.
Finding clock_in_the_loop(Workbench& bench) {
  Problem small = bench.problem();
  small.nx = small.ny = 16;
  constexpr std::int64_t steps = 1000;
  Solve<float> solve = bench.solve_of(small, "fused", steps);
  const auto was_right = [&] { return solve.was_right(); };
  const auto each_alone = [&] {
    solve.start();
    double sum = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      sum += bench.seconds([&] { solve.session().advance(1); });
    }
    solve.finish();
    return sum;
  };
  const auto all_at_once = [&] {
    solve.start();
    const double read = bench.seconds([&] {
      for (std::int64_t step = 0; step < steps; ++step) {
        solve.session().advance(1);
      }
    });
    solve.finish();
    return read;
  };
  return bench.in_turns({each_alone, was_right}, {all_at_once, was_right});
}

/// Writes twice the last-level cache, so that nothing else is left in it.
void flush_caches(std::span<std::uint64_t> memory) {
  for (std::uint64_t& word : memory) {
    ++word;
  }
}

Finding hot_cache(Workbench& bench) {
  Solve<float> solve = bench.solve("fused", 1);
  UntouchedMemory<std::uint64_t> other(2 * static_cast<std::size_t>(read_caches().l3) /
                                       sizeof(std::uint64_t));
  const auto was_right = [&] { return solve.was_right(); };
  // The first run brings the fields into the caches, and start() sets the state back.
  const auto in_a_loop = [&] {
    solve.start();
    solve.run();
    solve.start();
    const double read = bench.seconds([&] { solve.run(); });
    solve.finish();
    return read;
  };
  const auto among_other_work = [&] {
    solve.start();
    flush_caches(other.elements());
    const double read = bench.seconds([&] { solve.run(); });
    solve.finish();
    return read;
  };
  return bench.in_turns({in_a_loop, was_right}, {among_other_work, was_right});
}

/// Visible to the optimizer where it is called.
inline std::uint64_t checksum(std::span<const float> cells) {
  std::uint64_t sum = 0;
  for (const float cell : cells) {
    sum += std::bit_cast<std::uint32_t>(cell);
  }
  return sum;
}

Finding dead_code(Workbench& bench) {
  const Solve<float> solve = bench.solve("fused", 1); // for its field
  const std::uint64_t expected = checksum(solve.initial());
  std::uint64_t sum = 0;
  const auto unused = [&] {
    return bench.seconds(
        [&] { [[maybe_unused]] const std::uint64_t s = checksum(solve.initial()); });
  };
  const auto used = [&] {
    sum = 0;
    return bench.seconds([&] { sum = checksum(solve.initial()); });
  };
  // That nothing is left to be checked is the mistake.
  return bench.in_turns({unused, [] { return true; }}, {used, [&] { return sum == expected; }});
}

} // namespace

std::span<const MeasuredPitfall> timed_region_pitfalls() {
  static constexpr std::array table{
      MeasuredPitfall{"no-warm-up", no_warm_up},
      MeasuredPitfall{"allocation-timed", allocation_timed},
      MeasuredPitfall{"copies-timed", copies_timed},
      MeasuredPitfall{"clock-in-the-loop", clock_in_the_loop},
      MeasuredPitfall{"hot-cache", hot_cache},
      MeasuredPitfall{"dead-code", dead_code},
  };
  return table;
}

} // namespace diffbench::bench
