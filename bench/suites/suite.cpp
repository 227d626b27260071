// SPDX-License-Identifier: Apache-2.0
#include "suite.hpp"

#include "context.hpp"
#include "diffbench/text.hpp"
#include "gpu_operations.hpp"
#include "output.hpp"
#include "plain_names.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

constexpr const char* not_timed = "emulated: checked, not timed";

/// The repetitions of one benchmark follow each other, and share what was prepared for the first.
struct Current {
  std::string name;
  Repetition repetition;
};
Current current;

struct Outcome {
  int measured = 0; ///< benchmarks that ran, or were checked where there is no time to measure
  int failed = 0;
  int wrong = 0;
};
Outcome outcome;

Repetition skipping(std::string reason) {
  return [reason = std::move(reason)](benchmark::State& state) {
    state.SkipWithError(reason.c_str());
  };
}

/// Never throws what the benchmark threw: that becomes a repetition which reports it.
Repetition prepared(const Prepare& prepare) {
  try {
    Repetition repetition = prepare();
    ++outcome.measured;
    return repetition ? repetition : skipping(not_timed);
  } catch (const Unavailable& error) {
    return skipping(one_line(error.what()));
  } catch (const WrongResult& error) {
    ++outcome.wrong;
    return skipping("wrong result: " + one_line(error.what()));
  } catch (const std::exception& error) {
    ++outcome.failed;
    return skipping("failed: " + one_line(error.what()));
  }
}

void run(benchmark::State& state, const std::string& name, const Prepare& prepare) {
  if (current.name != name) {
    current = {}; // before the next one allocates
    current = {.name = name, .repetition = prepared(prepare)};
  }
  try {
    current.repetition(state);
  } catch (const std::exception& error) {
    ++outcome.failed;
    current.repetition = skipping("failed: " + one_line(error.what()));
    current.repetition(state);
  }
}

/// The value of the last `--option=value`; "true" for an option without one.
std::optional<std::string_view> option_value(std::string_view option,
                                             const std::vector<char*>& arguments) {
  std::optional<std::string_view> value;
  for (const std::string_view argument : arguments) {
    if (argument == option) {
      value = "true";
    } else if (argument.starts_with(option) && argument.substr(option.size()).starts_with('=')) {
      value = argument.substr(option.size() + 1);
    }
  }
  return value;
}

void add_context() {
  for (const auto& [key, value] : run_context()) {
    benchmark::AddCustomContext(key, value);
  }
}

int exit_code(const char* name, std::size_t matched, bool only_listed) {
  if (outcome.wrong > 0) {
    return exit_not_verified;
  }
  if (outcome.failed > 0) {
    return exit_error;
  }
  if (!only_listed && outcome.measured == 0) {
    fmt::print(stderr, "{}: nothing was measured: {}\n", name,
               matched == 0 ? "no benchmark has such a name; --benchmark_list_tests shows them"
                            : "all that were chosen are skipped");
    return exit_error;
  }
  return exit_ok;
}

} // namespace

void add_benchmark(const std::string& name, std::int64_t iterations, Prepare prepare, Clock clock) {
  auto* const benchmark = benchmark::RegisterBenchmark(
      name.c_str(),
      [name, prepare = std::move(prepare)](benchmark::State& state) { run(state, name, prepare); });
  benchmark->Iterations(iterations)->MeasureProcessCPUTime(); // the work is done by threads
  if (clock == Clock::samples) {
    benchmark->UseManualTime();
  } else {
    benchmark->UseRealTime();
  }
}

void add_skipped(const std::string& name, const std::string& reason) {
  add_benchmark(name, 1, [reason]() -> Repetition { throw Unavailable(reason); });
}

void require_memory(std::string_view where, std::int64_t need, std::int64_t free) {
  if (need > free) {
    throw Unavailable(fmt::format("needs {} of memory on the {}, and {} are free",
                                  format_bytes(need), where, format_bytes(free)));
  }
}

void count_rate(benchmark::State& state, const char* counter, double amount) {
  state.counters[counter] =
      benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
}

void set_label(benchmark::State& state, const Provenance& provenance) {
  std::string text = fmt::format("threads {}", provenance.threads);
  for (const auto& [name, value] : provenance.facts()) {
    text += fmt::format(", {} {}", name, value);
  }
  state.SetLabel(text);
}

int run_suite(const char* name, int argc, char** argv) {
  // What comes later on the command line wins.
  std::string repetitions = "--benchmark_repetitions=9";
  std::string aggregates = "--benchmark_display_aggregates_only=true";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, {repetitions.data(), aggregates.data()});
  const auto out = option_value("--benchmark_out", arguments);
  if (option_value("--benchmark_out_format", arguments).value_or("json") != "json") {
    fmt::print(stderr, "{}: --benchmark_out_format: the suites write json only\n", name);
    return exit_usage;
  }
  const bool only_listed =
      option_value("--benchmark_list_tests", arguments).value_or("false") != "false";

  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
    return exit_usage;
  }
  // Not the path: a result file is to be shown to others.
  benchmark::BenchmarkReporter::Context::executable_name = name;
  add_context();

  PlainNames display(*benchmark::CreateDefaultDisplayReporter());
  benchmark::JSONReporter json;
  PlainNames file(json);
  const std::size_t matched =
      benchmark::RunSpecifiedBenchmarks(&display, out.value_or("").empty() ? nullptr : &file);
  current = {}; // while the CUDA runtime is still there
  benchmark::Shutdown();
  return exit_code(name, matched, only_listed);
}

} // namespace diffbench::bench
