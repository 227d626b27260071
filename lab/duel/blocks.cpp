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

/// What ends a duel before its next block; empty: it goes on.
std::optional<DuelEnd> end_of(const Duel& duel, const BlockLimits& limits, double elapsed) {
  const auto count = std::ssize(duel.blocks);
  if (count == 0) {
    return std::nullopt;
  }
  if (duel.decided()) {
    return DuelEnd::verdict;
  }
  if (limits.most_blocks != 0 && count >= limits.most_blocks) {
    return DuelEnd::blocks;
  }
  const double expected = duel.seconds / static_cast<double>(count);
  return elapsed + expected <= limits.seconds ? std::nullopt : std::optional(DuelEnd::budget);
}

/// Whether it is known what of each process is left out.
bool warm_up_is_known(const Duel& duel) {
  return duel.warming || duel.blocks.front().a.whole_processes() ||
         duel.blocks.front().a.samples.size() == 1;
}

/// Of both processes of a block, how much longer the sample took than the median of those from
/// `later` on, in logarithms.
double over_later(const Block& block, std::size_t sample, std::size_t later) {
  const auto of = [&](const SideReading& reading) {
    return std::log(reading.samples[sample] / reading.seconds(later));
  };
  return (of(block.a) + of(block.b)) / 2;
}

/// Whether a verdict is looked for after so many blocks. It may be after any of them; but to look
/// after each of thousands takes longer than they do.
bool is_looked_at(std::size_t blocks) { return blocks % (1 + blocks / 500) == 0; }

/// `take` is called for each side of each pair; the order within them alternates.
template <typename Take>
void take_pairs(Side first, int pairs, Take take) {
  for (int pair = 0; pair < pairs; ++pair) {
    check_interrupt();
    const Side leads = pair % 2 == 0 ? first : other(first);
    take(leads);
    take(other(leads));
  }
}

} // namespace

std::string_view to_string(Side side) { return side == Side::a ? "A" : "B"; }

double SideReading::seconds(std::size_t left_out) const {
  return median_of({samples.begin() + static_cast<std::ptrdiff_t>(left_out), samples.end()});
}

double Block::quotient(std::size_t left_out) const {
  std::vector<double> logarithms;
  for (std::size_t i = left_out; i < a.samples.size(); ++i) {
    logarithms.push_back(std::log(b.samples[i] / a.samples[i]));
  }
  return std::exp(median_of(std::move(logarithms)));
}

Block block_of_runs(Side first, int pairs, const std::function<ProgramRun(Side)>& run) {
  Block block{.first = first, .a = {}, .b = {}};
  take_pairs(first, pairs, [&](Side side) {
    SideReading& reading = block.of(side);
    reading.runs.push_back(run(side));
    reading.samples.push_back(reading.runs.back().seconds);
  });
  return block;
}

int affordable_pairs(double pair_seconds, double budget_seconds) {
  constexpr double most = 4;
  constexpr double blocks_wanted = 30;
  return pair_seconds > 0 ? static_cast<int>(std::clamp(
                                budget_seconds / (blocks_wanted * pair_seconds), 1.0, most))
                          : 1;
}

Block block_of_pairs(Side first, int pairs,
                     const std::function<std::unique_ptr<Sampler>(Side)>& start) {
  Block block{.first = first, .a = {}, .b = {}};
  const std::unique_ptr<Sampler> one = start(first);
  const std::unique_ptr<Sampler> two = start(other(first));
  take_pairs(first, pairs, [&](Side side) {
    block.of(side).samples.push_back((side == first ? one : two)->sample());
  });
  return block;
}

std::optional<Warming> warming(std::span<const Block> blocks, double alpha) {
  if (blocks.size() < blocks_of_warming || blocks.front().a.whole_processes() ||
      blocks.front().a.samples.size() < 2) {
    return std::nullopt;
  }
  const std::span<const Block> looked_at = blocks.first(blocks_of_warming);
  const std::size_t half = blocks.front().a.samples.size() / 2;
  Warming found;
  for (std::size_t sample = 0; sample < half; ++sample) {
    std::vector<double> longer;
    std::ranges::transform(looked_at, std::back_inserter(longer),
                           [&](const Block& block) { return over_later(block, sample, half); });
    const auto slower = std::ranges::count_if(longer, [](double each) { return each > 0; });
    const bool most = 2 * slower > std::ssize(longer);
    if (!most || log_sign_evidence(slower, std::ssize(longer)) < -std::log(alpha)) {
      break;
    }
    if (sample == 0) {
      found.longer = std::exp(median_of(std::move(longer)));
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

void judge(Duel& duel, const VerdictRule& rule) {
  duel.standing = warm_up_is_known(duel)
                      ? standing(duel.quotients(), rule)
                      : Standing{.ratio = {.value = median_of(duel.quotients()), .interval = {}},
                                 .alpha = rule.alpha};
}

bool run_blocks(Duel& duel, const VerdictRule& rule, const BlockLimits& limits, std::uint64_t seed,
                const std::function<double()>& elapsed, const std::function<void()>& on_block) {
  std::mt19937_64 coin(seed);
  std::optional<DuelEnd> end;
  try {
    for (double begin = elapsed(); !(end = end_of(duel, limits, begin)); begin = elapsed()) {
      check_interrupt();
      duel.blocks.push_back(duel.run(coin() >> 63 == 0 ? Side::a : Side::b));
      if (!duel.warming) { // before there can be a verdict
        duel.warming = warming(duel.blocks);
      }
      duel.seconds += elapsed() - begin;
      if (is_looked_at(duel.blocks.size())) {
        judge(duel, rule);
      }
      on_block();
    }
  } catch (const Interrupted&) {
    end = std::nullopt;
  }
  duel.end = end.value_or(DuelEnd::interrupt);
  if (!duel.blocks.empty()) {
    judge(duel, rule);
  }
  return end.has_value();
}

} // namespace diffbench::bench
