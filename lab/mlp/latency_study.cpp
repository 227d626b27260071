// SPDX-License-Identifier: Apache-2.0
#include "latency.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "interrupt.hpp"
#include "peers.hpp"
#include "pitfalls/untouched_memory.hpp"
#include "pitfalls/workbench.hpp"
#include "small_nets.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr std::int64_t cold_calls = 30;    ///< each after the caches were flushed
constexpr std::int64_t rows_at_once = 256; ///< of the throughput that is mistaken for a latency
constexpr double coarse_tick = 1e-3;
constexpr std::size_t bins = 24;

/// Of one request: it is what Ctrl-C loses.
constexpr std::int64_t most_calls_asked = 10'000;
constexpr double most_seconds_asked = 1;

/// One engine with the network, the rows that it is asked about, and room for its answers.
class Asked {
 public:
  Asked(const mlp::EngineInfo& info, const LatencyJob& job, std::int64_t batch)
      : network_(job.network),
        batch_(batch),
        features_(random_rows(network_, inputs_made * batch)),
        outputs_(static_cast<std::size_t>(batch * network_.classes())),
        engine_(info.make<float>()({.network = network_, .optimizer = {}, .batch = batch},
                                   job.session)) {
    engine_->set_parameters(job.parameters);
  }

  /// One call, from rows to outputs.
  CallTimes call() {
    const std::span<const float> rows = next_rows();
    const double begin = steady_seconds();
    engine_->start_forward(rows, outputs_);
    engine_->finish_forward();
    return {.begin = begin, .end = steady_seconds()};
  }
  double seconds() {
    const CallTimes times = call();
    return times.end - times.begin;
  }
  /// Until the first half has returned, as somebody who does not synchronize reads it.
  double seconds_to_issue() {
    const std::span<const float> rows = next_rows();
    const double begin = steady_seconds();
    engine_->start_forward(rows, outputs_);
    const double end = steady_seconds();
    engine_->finish_forward();
    return end - begin;
  }

  void warm_up() {
    const double begin = steady_seconds();
    for (int i = 0; i < warm_calls || steady_seconds() - begin < warm_seconds; ++i) {
      check_interrupt();
      (void)call();
    }
  }

  /// Of a call's outputs, by output_error().
  double error(const LatencyJob& job) {
    const std::span<const float> rows = next_rows();
    engine_->start_forward(rows, outputs_);
    engine_->finish_forward();
    return output_error(network_, job.parameters, rows, outputs_);
  }

  [[nodiscard]] Provenance provenance() const { return engine_->provenance(); }

 private:
  std::span<const float> next_rows() {
    const auto size = static_cast<std::size_t>(batch_ * network_.inputs());
    next_ = (next_ + 1) % inputs_made;
    return std::span(features_).subspan(static_cast<std::size_t>(next_) * size, size);
  }

  mlp::Network network_;
  std::int64_t batch_;
  std::vector<float> features_;
  std::vector<float> outputs_;
  std::unique_ptr<mlp::Engine<float>> engine_;
  std::int64_t next_ = 0;
};

/// As many as `count`, fewer after Ctrl-C.
template <typename Sample>
auto collect(std::int64_t count, Sample sample) {
  std::vector<decltype(sample())> all;
  all.reserve(static_cast<std::size_t>(count));
  while (static_cast<std::int64_t>(all.size()) < count && !interrupted()) {
    all.push_back(sample());
  }
  return all;
}

/// The least that two readings in a row differ by.
double cost_of_clock() {
  double least = 1;
  for (int i = 0; i < 1000; ++i) {
    const double begin = steady_seconds();
    least = std::min(least, steady_seconds() - begin);
  }
  return least;
}

Misreading one_sample(const LatencySummary& right) {
  const bool slow = right.max / right.median >= right.median / right.min;
  return {.name = "one sample",
          .mistake = "a single call, the one farthest from the median",
          .mistaken = slow ? right.max : right.min,
          .right = right.median};
}

/// After it the calls of `asked` are warm again.
std::optional<Misreading> hot_cache(Asked& asked, const LatencyJob& job, double median) {
  UntouchedMemory<std::uint64_t> other(2 * static_cast<std::size_t>(read_caches().l3) /
                                       sizeof(std::uint64_t));
  const std::span<std::uint64_t> words = other.elements();
  constexpr std::size_t part = 1 << 20;
  const std::vector<double> cold = collect(std::min(cold_calls, job.repetitions), [&] {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i % part == 0) { // fresh memory can take a second for a few of them
        check_interrupt();
      }
      ++words[i];
    }
    return asked.seconds();
  });
  if (cold.empty()) {
    return std::nullopt;
  }
  return Misreading{
      .name = "hot cache",
      .mistake = "calls in a loop; right: caches flushed before each call, as after other work",
      .mistaken = median,
      .right = median_of(cold)};
}

std::optional<Misreading> share_of_throughput(const mlp::EngineInfo& engine, const LatencyJob& job,
                                              double median) {
  Asked many(engine, job, std::max(rows_at_once, job.batch));
  many.warm_up();
  const std::vector<double> seconds =
      collect(std::min(cold_calls, job.repetitions), [&] { return many.seconds(); });
  if (seconds.empty()) {
    return std::nullopt;
  }
  const double calls =
      static_cast<double>(std::max(rows_at_once, job.batch)) / static_cast<double>(job.batch);
  return Misreading{
      .name = "throughput",
      .mistake = "the time of a large batch, divided by its rows",
      .mistaken = median_of(seconds) / calls,
      .right = median,
      .detail = fmt::format("{} rows at once in {}", std::max(rows_at_once, job.batch),
                            format_seconds(median_of(seconds)))};
}

void add_misreadings(LatencyRow& row, const mlp::EngineInfo& engine, const LatencyJob& job,
                     Asked& asked, double first_call, std::span<const CallTimes> calls) {
  const LatencySummary right = summarize_latencies(row.latencies());
  const auto add = [&](std::optional<Misreading> misreading) {
    if (misreading) {
      row.misreadings.push_back(std::move(*misreading));
    }
  };
  add(Misreading{.name = "no warm-up",
                 .mistake = "the first call of a new engine",
                 .mistaken = first_call,
                 .right = right.median});
  add(one_sample(right));
  add(Misreading{.name = "mean",
                 .mistake = "the mean, with its outliers",
                 .mistaken = right.mean,
                 .right = right.median});
  add(with_coarse_clock(calls, coarse_tick));
  if (engine.device == DeviceKind::cuda) {
    const std::vector<double> issued =
        collect(job.repetitions, [&] { return asked.seconds_to_issue(); });
    if (!issued.empty()) {
      add(Misreading{.name = "no synchronization",
                     .mistake = "only until the call that issues the work returned",
                     .mistaken = median_of(issued),
                     .right = right.median});
    }
  }
  try {
    add(hot_cache(asked, job, right.median));
    add(share_of_throughput(engine, job, right.median));
  } catch (const Interrupted&) { // what is there is kept
  }
}

/// A peer in the place of an engine, in a process of its own.
class AskedPeer {
 public:
  AskedPeer(const std::string& name, int threads, const LatencyJob& job)
      : job_(job),
        features_(random_rows(job.network, inputs_made * job.batch)),
        peer_(name, peer_job(), {.threads = threads}, interrupted) {}

  /// Of the outputs of the first rows, by output_error().
  double error() {
    peer_.reset();
    peer_.advance(1);
    const std::filesystem::path file = exchange_.path() / "outputs.npy";
    peer_.save(file);
    const Field<float> outputs = read_npy<float>(file);
    if (outputs.nx() != job_.network.classes() || outputs.ny() != job_.batch) {
      throw Error("the peer's outputs have another shape");
    }
    const auto size = static_cast<std::size_t>(job_.batch * job_.network.inputs());
    return output_error(job_.network, job_.parameters, std::span(features_).first(size),
                        outputs.cells());
  }

  void collect(LatencyRow& row) {
    while (true) {
      const std::int64_t left = job_.repetitions - static_cast<std::int64_t>(row.samples.size());
      if (left == 0) {
        return;
      }
      const PeerAnswers answers = peer_.answer({.warm_calls = warm_calls,
                                                .warm_seconds = warm_seconds,
                                                .count = std::min(left, most_calls_asked),
                                                .most_seconds = most_seconds_asked});
      row.clock_cost = answers.clock_cost;
      std::ranges::for_each(answers.seconds, [&](double seconds) { row.add_call(seconds); });
    }
  }

  [[nodiscard]] Provenance provenance() const { return peer_.provenance(); }

 private:
  [[nodiscard]] PeerJob peer_job() const {
    const mlp::Network& network = job_.network;
    return {.task = PeerTask::answering,
            .start = {{"layers", network.widths()},
                      {"batch", job_.batch},
                      {"parameters", write_rows(exchange_.path() / "parameters.npy",
                                                job_.parameters, network.parameters())},
                      {"features",
                       write_rows(exchange_.path() / "features.npy", features_, network.inputs())}},
            .most_step_seconds = network.flops_per_step(job_.batch) / slowest_peer_flops};
  }

  const LatencyJob& job_;
  TemporaryDirectory exchange_; ///< outlives the peer
  std::vector<float> features_;
  Peer peer_;
};

} // namespace

LatencySummary summarize_latencies(std::span<const double> seconds) {
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(sorted.size());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  double squares = 0;
  for (const double value : sorted) {
    squares += (value - mean) * (value - mean);
  }
  return {.mean = mean,
          .deviation = sorted.size() > 1 ? std::sqrt(squares / (count - 1)) : 0,
          .median = quantile(sorted, 0.5),
          .p99 = sorted.size() >= 100 ? std::optional(quantile(sorted, 0.99)) : std::nullopt,
          .min = sorted.front(),
          .max = sorted.back()};
}

Histogram histogram_of(std::span<const double> seconds) {
  const auto [least, most] = std::ranges::minmax(seconds);
  Histogram histogram{.edges = {}, .counts = std::vector<std::int64_t>(bins)};
  const double width = std::log(most / least) / bins;
  for (std::size_t i = 0; i <= bins; ++i) {
    histogram.edges.push_back(i < bins ? least * std::exp(width * static_cast<double>(i)) : most);
  }
  for (const double value : seconds) {
    const auto above = std::ranges::upper_bound(histogram.edges, value);
    const auto bin = static_cast<std::size_t>(above - histogram.edges.begin()) - 1;
    ++histogram.counts[std::min(bin, bins - 1)];
  }
  return histogram;
}

Misreading with_coarse_clock(std::span<const CallTimes> calls, double tick) {
  std::vector<double> read;
  std::vector<double> exact;
  for (const CallTimes& call : calls) {
    read.push_back(tick * (std::floor(call.end / tick) - std::floor(call.begin / tick)));
    exact.push_back(call.end - call.begin);
  }
  const auto ticked = std::ranges::count_if(read, [](double seconds) { return seconds > 0; });
  return {.name = "coarse clock",
          .mistake = "one call by a clock that counts milliseconds",
          .mistaken = median_of(read),
          .right = median_of(exact),
          .detail = fmt::format("{} of {} calls read {} or more, the others 0", ticked, read.size(),
                                format_seconds(tick))};
}

std::vector<double> LatencyRow::latencies() const {
  std::vector<double> seconds;
  std::ranges::transform(samples, std::back_inserter(seconds), &Sample::seconds);
  return seconds;
}

void LatencyRow::add_call(double seconds) {
  samples.push_back({.iterations = 1, .seconds = seconds, .cpu_seconds = {}});
}

void accept_outputs(LatencyRow& row, double output_error) {
  row.output_error = output_error;
  row.check = check_outputs(output_error);
  if (row.wrong()) {
    throw Error(fmt::format("its outputs are wrong by {:.2g} of the largest", output_error));
  }
}

void study_latency(LatencyRow& row, const mlp::EngineInfo& engine, const LatencyJob& job) {
  row.small_nets = SmallNets().check(engine, job.session);
  if (const StepCheck& worst = row.small_nets->worst; !worst.ok()) {
    row.check = worst;
    throw Error(to_text(worst));
  }
  Asked asked(engine, job, job.batch);
  const double first_call = asked.seconds();
  row.provenance = asked.provenance();
  accept_outputs(row, asked.error(job));
  if (row.emulated()) {
    return;
  }
  asked.warm_up();
  row.clock_cost = cost_of_clock();
  const std::vector<CallTimes> calls = collect(job.repetitions, [&] { return asked.call(); });
  for (const CallTimes& call : calls) {
    row.add_call(call.end - call.begin);
  }
  if (!row.samples.empty()) {
    add_misreadings(row, engine, job, asked, first_call, calls);
  }
}

void study_peer_latency(LatencyRow& row, const std::string& peer, int threads,
                        const LatencyJob& job) {
  AskedPeer asked(peer, threads, job);
  row.provenance = asked.provenance();
  accept_outputs(row, asked.error());
  asked.collect(row);
}

} // namespace diffbench::bench
