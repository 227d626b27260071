// SPDX-License-Identifier: Apache-2.0
#include "blocks.hpp"

#include "interrupt.hpp"
#include "sign_evidence.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <random>

namespace diffbench::bench {

namespace {

bool goes_on(const Duel& duel, const BlockLimits& limits, double elapsed) {
  const auto count = std::ssize(duel.blocks);
  if (count == 0) {
    return true;
  }
  const double expected = duel.seconds / static_cast<double>(count);
  return !duel.decided && (limits.most_blocks == 0 || count < limits.most_blocks) &&
         elapsed + expected <= limits.seconds;
}

/// Duels that have no blocks yet are not decided; they have their part of alpha all the same.
void mark_decided(std::span<Duel> duels, const VerdictRule& rule) {
  std::vector<std::vector<double>> quotients;
  std::vector<Duel*> begun;
  for (Duel& duel : duels) {
    if (!duel.blocks.empty()) {
      quotients.push_back(duel.quotients());
      begun.push_back(&duel);
    }
  }
  const std::vector<Standing> found = standings(quotients, rule, duels.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    begun[i]->decided = found[i].verdict != Verdict::unclear;
  }
}

/// Of each process, one sample over the median of those from `later` on.
std::vector<double> over_later(std::span<const Block> blocks, std::size_t sample,
                               std::size_t later) {
  std::vector<double> quotients;
  for (const Block& block : blocks) {
    for (const SideReading* reading : {&block.a, &block.b}) {
      quotients.push_back(reading->samples[sample] / reading->seconds(later));
    }
  }
  return quotients;
}

} // namespace

std::string_view to_string(Side side) { return side == Side::a ? "A" : "B"; }

double SideReading::seconds(std::size_t left_out) const {
  return median_of({samples.begin() + static_cast<std::ptrdiff_t>(left_out), samples.end()});
}

double Block::quotient(std::size_t left_out) const {
  if (a.samples.size() == 1) {
    return b.samples.front() / a.samples.front();
  }
  std::vector<double> logarithms;
  for (std::size_t i = left_out; i < a.samples.size(); ++i) {
    logarithms.push_back(std::log(b.samples[i] / a.samples[i]));
  }
  return std::exp(median_of(std::move(logarithms)));
}

Block block_of_runs(Side first, const std::function<SideReading(Side)>& run) {
  Block block{.first = first, .a = {}, .b = {}};
  block.of(first) = run(first);
  block.of(other(first)) = run(other(first));
  return block;
}

Block block_of_pairs(Side first, const std::function<std::unique_ptr<Sampler>(Side)>& start) {
  Block block{.first = first, .a = {}, .b = {}};
  const std::unique_ptr<Sampler> one = start(first);
  const std::unique_ptr<Sampler> two = start(other(first));
  const auto take = [&](Side side) {
    block.of(side).samples.push_back((side == first ? one : two)->sample());
  };
  for (int pair = 0; pair < pairs_of_block; ++pair) {
    check_interrupt();
    const Side leads = pair % 2 == 0 ? first : other(first);
    take(leads);
    take(other(leads));
  }
  return block;
}

std::optional<Warming> warming(std::span<const Block> blocks, double alpha) {
  if (blocks.size() < blocks_of_warming || blocks.front().a.samples.size() < 2) {
    return std::nullopt;
  }
  const std::span<const Block> looked_at = blocks.first(blocks_of_warming);
  const std::size_t half = blocks.front().a.samples.size() / 2;
  Warming found;
  for (std::size_t sample = 0; sample < half; ++sample) {
    std::vector<double> quotients = over_later(looked_at, sample, half);
    const auto slower = std::ranges::count_if(quotients, [](double q) { return q > 1; });
    const bool most = 2 * slower > std::ssize(quotients);
    if (!most || log_sign_evidence(slower, std::ssize(quotients)) < -std::log(alpha)) {
      break;
    }
    if (sample == 0) {
      found.longer = median_of(std::move(quotients));
    }
    found.samples = sample + 1;
  }
  return found;
}

std::vector<double> Duel::quotients() const {
  std::vector<double> quotients;
  quotients.reserve(blocks.size());
  std::ranges::transform(blocks, std::back_inserter(quotients),
                         [&](const Block& block) { return block.quotient(left_out()); });
  return quotients;
}

bool run_blocks(std::span<Duel> duels, const VerdictRule& rule, const BlockLimits& limits,
                std::uint64_t seed, const std::function<double()>& elapsed,
                const std::function<void()>& on_block) {
  std::mt19937_64 coin(seed);
  for (bool any = true; any;) {
    any = false;
    for (Duel& duel : duels) {
      const double begin = elapsed();
      if (!goes_on(duel, limits, begin)) {
        continue;
      }
      if (interrupted()) {
        return false;
      }
      try {
        duel.blocks.push_back(duel.run(coin() >> 63 == 0 ? Side::a : Side::b));
      } catch (const Interrupted&) {
        return false;
      }
      if (!duel.warming) { // before there can be a verdict
        duel.warming = warming(duel.blocks);
      }
      duel.seconds += elapsed() - begin;
      mark_decided(duels, rule);
      any = true;
      on_block();
    }
  }
  return true;
}

} // namespace diffbench::bench
