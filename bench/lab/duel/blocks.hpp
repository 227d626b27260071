// Two sides that are measured in blocks until it is decided which one is faster.
//
// A block runs both sides once, each from a new process, in an order that a coin throws. Then it
// says one thing: how many times as long B took as A. If both are the same program, the coin alone
// decides on which side of 1 that lies, whatever the machine does meanwhile, so the intervals of
// sign_evidence.hpp hold, and one may stop at any block.
#pragma once

#include "program_run.hpp"
#include "ratio.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

enum class Side { a, b };
[[nodiscard]] std::string_view to_string(Side side);

/// One run of a side.
struct Reading {
  double seconds = 0; ///< what is judged, above 0
  ProgramRun run;     ///< what else is known of it
};

struct Block {
  Side first = Side::a;
  Reading a, b;

  [[nodiscard]] double quotient() const { return b.seconds / a.seconds; }
};

/// What is asked of the blocks.
struct Question {
  double margin = 0.02; ///< a difference up to this is none
  double alpha = 0.01;  ///< probability of a wrong verdict, however long one looks

  [[nodiscard]] double confidence() const { return 1 - alpha; }
};

struct Standing {
  Ratio ratio; ///< of B over A; without an interval below 10 blocks at 1 %
  Verdict verdict = Verdict::unclear;
  /// Of no verdict: about how many blocks in all would give one. Empty: not as far as one can see.
  std::optional<std::int64_t> blocks_to_decide = {};
};
/// At least one block.
[[nodiscard]] Standing standing(std::span<const Block> blocks, const Question& question);

/// Two sides, and what was measured of them.
struct Duel {
  std::string label; ///< what tells it from the others; empty for the only one
  std::function<Reading(Side)> run;
  std::vector<Block> blocks = {};
  double seconds = 0; ///< that its blocks took, all around included
  bool decided = false;
};

struct BlockLimits {
  double seconds = 0;           ///< no block begins that would probably end later
  std::int64_t most_blocks = 0; ///< of each duel; 0: as many as the time allows
};

/// Takes blocks of the duels in turn, until each is decided or a limit is reached; each has one at
/// least. The coin is `seed`'s. `elapsed` is the time in seconds until now, and is asked between
/// blocks; `on_block` is told after each. Returns false after Ctrl-C, which loses the block in
/// progress; throws what a run throws.
bool run_blocks(std::span<Duel> duels, const Question& question, const BlockLimits& limits,
                std::uint64_t seed, const std::function<double()>& elapsed,
                const std::function<void()>& on_block);

} // namespace diffbench::bench
