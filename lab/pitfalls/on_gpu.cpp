// SPDX-License-Identifier: Apache-2.0
// Mistakes that need a GPU to be seen. They are written against sessions: advance() may return
// before the work is done, and a device's own clock is what take_phases() reports as busy.
#include "pitfall.hpp"

#include <array>
#include <optional>
#include <vector>

namespace diffbench::bench {

namespace {

/// Must be the first use of the device in the process.
Finding context_timed(Workbench& bench) {
  Solve<float> solve = bench.solve("cuda_stream", 100);
  const auto from_nothing = [&] {
    solve.close();
    return bench.seconds([&] {
      solve.start();
      solve.run();
      solve.finish();
    });
  };
  const auto was_right = [&] { return solve.was_right(); };
  const double first = from_nothing();
  Finding finding = bench.in_turns({from_nothing, was_right}, {from_nothing, was_right});
  finding.mistaken = {.seconds = first, .samples = {}}; // there is only one first
  return finding;
}

Finding no_synchronization(Workbench& bench) {
  Solve<float> solve = bench.solve("cuda_graph", 1024);
  const auto launch_only = [&] {
    solve.start();
    const double read = bench.seconds([&] { solve.session().advance(solve.steps()); });
    solve.session().wait(); // too late
    solve.finish();
    return read;
  };
  return bench.in_turns({launch_only, [&] { return solve.was_right(); }}, bench.timed_steps(solve));
}

/// Every step alone, waited for.
void step_by_step(Session<float>& session, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) {
    session.advance(1);
    session.wait();
  }
}

Finding synchronize_every_step(Workbench& bench) {
  Solve<float> solve = bench.solve("cuda_naive", 100);
  const auto each_waited_for = [&] {
    solve.start();
    const double read = bench.seconds([&] { step_by_step(solve.session(), solve.steps()); });
    solve.finish();
    return read;
  };
  return bench.in_turns({each_waited_for, [&] { return solve.was_right(); }},
                        bench.timed_steps(solve));
}

/// A session records one pair of events round what is issued between two waits.
Finding event_pairs(Workbench& bench) {
  Solve<float> solve = bench.solve("cuda_naive", 100);
  const auto was_right = [&] { return solve.was_right(); };
  const auto by_events = [&](auto&& work) {
    solve.start();
    (void)solve.session().take_phases();
    work();
    const std::optional<PhaseTimes> phases = solve.session().take_phases();
    solve.finish();
    return phases ? phases->compute_busy : 0;
  };
  const auto a_pair_each = [&] {
    return by_events([&] { step_by_step(solve.session(), solve.steps()); });
  };
  const auto one_pair = [&] { return by_events([&] { solve.run(); }); };
  return bench.in_turns({a_pair_each, was_right}, {one_pair, was_right});
}

/// Steps with snapshots on their way to the host beside them.
Finding pageable_async(Workbench& bench) {
  constexpr std::int64_t snapshots = 10;
  constexpr std::int64_t steps_between = 20;
  const auto solve_with = [&](Transfer transfer) {
    return bench.solve("cuda_stream", snapshots * steps_between,
                       {.transfer = transfer, .async = true});
  };
  Solve<float> pageable = solve_with(Transfer::pageable);
  Solve<float> pinned = solve_with(Transfer::pinned);
  std::vector<float> ordinary(pageable.initial().size());
  const auto way = [&](Solve<float>& solve) -> Way {
    return {[&] {
              solve.start();
              const std::span<float> own = solve.session().host_buffer();
              const std::span<float> target = own.empty() ? std::span<float>(ordinary) : own;
              const double read = bench.seconds([&] {
                for (std::int64_t i = 0; i < snapshots; ++i) {
                  solve.session().advance(steps_between);
                  solve.session().start_download(target);
                }
                solve.session().wait();
              });
              solve.finish();
              return read;
            },
            [&] { return solve.was_right(); }};
  };
  return bench.in_turns(way(pageable), way(pinned));
}

} // namespace

std::span<const MeasuredPitfall> gpu_pitfalls() {
  static constexpr std::array table{
      MeasuredPitfall{"context-timed", context_timed},
      MeasuredPitfall{"no-synchronization", no_synchronization},
      MeasuredPitfall{"synchronize-every-step", synchronize_every_step},
      MeasuredPitfall{"event-pairs", event_pairs},
      MeasuredPitfall{"pageable-async", pageable_async},
  };
  return table;
}

} // namespace diffbench::bench
