#include "blocks.hpp"

#include "interrupt.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

namespace diffbench::bench {

namespace {

std::vector<double> quotients_of(std::span<const Block> blocks) {
  std::vector<double> quotients;
  quotients.reserve(blocks.size());
  std::ranges::transform(blocks, std::back_inserter(quotients), &Block::quotient);
  return quotients;
}

Ratio ratio_of_blocks(std::span<const Block> blocks, const Question& question) {
  return ratio_of(quotients_of(blocks), question.confidence(), Stopping::sequential);
}

Block measured_block(const Duel& duel, Side first) {
  Block block{.first = first, .a = {}, .b = {}};
  const auto measure = [&](Side side) { (side == Side::a ? block.a : block.b) = duel.run(side); };
  measure(first);
  measure(first == Side::a ? Side::b : Side::a);
  return block;
}

bool goes_on(const Duel& duel, const BlockLimits& limits, double elapsed) {
  const auto count = std::ssize(duel.blocks);
  if (count == 0) {
    return true;
  }
  const double expected = duel.seconds / static_cast<double>(count);
  return !duel.decided && (limits.most_blocks == 0 || count < limits.most_blocks) &&
         elapsed + expected <= limits.seconds;
}

} // namespace

std::string_view to_string(Side side) { return side == Side::a ? "A" : "B"; }

Standing standing(std::span<const Block> blocks, const Question& question) {
  Standing found{.ratio = ratio_of_blocks(blocks, question)};
  found.verdict = judge(found.ratio, question.margin);
  if (found.verdict == Verdict::unclear) {
    found.blocks_to_decide =
        quotients_to_decide(quotients_of(blocks), question.confidence(), question.margin);
  }
  return found;
}

bool run_blocks(std::span<Duel> duels, const Question& question, const BlockLimits& limits,
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
        duel.blocks.push_back(measured_block(duel, coin() >> 63 == 0 ? Side::a : Side::b));
      } catch (const Interrupted&) {
        return false;
      }
      duel.seconds += elapsed() - begin;
      duel.decided =
          judge(ratio_of_blocks(duel.blocks, question), question.margin) != Verdict::unclear;
      any = true;
      on_block();
    }
  }
  return true;
}

} // namespace diffbench::bench
