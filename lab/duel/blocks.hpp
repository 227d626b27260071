// SPDX-License-Identifier: Apache-2.0
// Two sides that are measured in blocks until it is decided which one is faster.
//
// A block starts both sides anew, in an order that a coin throws: the placement of memory and code
// is a property of a process, and more samples within one do not show it. A block says one thing,
// how many times as long B took as A. If both are the same program, the coin alone decides on which
// side of 1 that lies, whatever the machine does meanwhile, so the intervals of sign_evidence.hpp
// hold, and one may stop at any block.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/name_table.hpp"
#include "program_run.hpp"
#include "standing.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

enum class Side { a, b };
[[nodiscard]] std::string_view to_string(Side side);
[[nodiscard]] constexpr Side other(Side side) { return side == Side::a ? Side::b : Side::a; }

/// A side does not compute what it should, or not what the other does: it is not timed.
class NotVerified : public Error {
 public:
  using Error::Error;
};

/// Runs `act` for what is called `who`, with which its errors then begin.
template <typename Act>
auto as_of(std::string_view who, Act act) {
  try {
    return act();
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", who, error.what()));
  } catch (const Unavailable& error) {
    throw Unavailable(fmt::format("{}: {}", who, error.what()));
  } catch (const NotVerified& error) {
    throw NotVerified(fmt::format("{}: {}", who, error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", who, error.what()));
  }
}

/// One side of a block.
struct SideReading {
  std::vector<double> samples;       ///< seconds, each above 0, in their order; one at least
  std::vector<ProgramRun> runs = {}; ///< of each, where they are whole processes; else empty

  [[nodiscard]] bool whole_processes() const { return !runs.empty(); }

  /// Median of the samples but for the first `left_out`, of which there are more.
  [[nodiscard]] double seconds(std::size_t left_out = 0) const;
};

struct Block {
  Side first = Side::a;
  SideReading a, b; ///< with as many samples each

  [[nodiscard]] SideReading& of(Side side) { return side == Side::a ? a : b; }
  /// The median of the quotients of the pairs but for the first `left_out`, in logarithms: to
  /// exchange A and B inverts it. Of an even number of pairs a steady drift cancels, since the
  /// order within them alternates.
  [[nodiscard]] double quotient(std::size_t left_out = 0) const;
};

/// A block of so many pairs of whole processes, one of each side in turn: A B B A where `first` is
/// A and there are two.
[[nodiscard]] Block block_of_runs(Side first, int pairs,
                                  const std::function<ProgramRun(Side)>& run);
/// How many pairs of commands, of which one takes `pair_seconds`, a block should have where there
/// are so many seconds for all: at most 4, as many as leave room for 30 blocks; 1 where nothing is
/// known of them (0 s). docs/decisions.md has the reason.
[[nodiscard]] int affordable_pairs(double pair_seconds, double budget_seconds);

/// A process that takes samples while it lives.
class Sampler {
 public:
  Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  virtual ~Sampler() = default;
  /// Seconds. Blocks.
  [[nodiscard]] virtual double sample() = 0;
};
/// Of samples, where nothing else is asked for.
inline constexpr int pairs_of_samples = 9;
/// A block of two such processes: both are started, then take a sample each in turn, so that a pair
/// has met the same machine; the order changes from pair to pair.
[[nodiscard]] Block block_of_pairs(Side first, int pairs,
                                   const std::function<std::unique_ptr<Sampler>(Side)>& start);

/// What the first samples of a process are, compared with its later ones.
struct Warming {
  std::size_t samples = 0; ///< of each process, from the first on, that are left out
  double longer = 1;       ///< median of the first one over the median of the later ones
};
/// The rule, by the first blocks_of_warming blocks: a first sample is warming where it was slower
/// than the later ones' median in so many of them that the sequential sign test shows it at
/// `alpha`, and so is each one after it that is; at most half of them. A block counts once, by the
/// mean logarithm of its two processes, which met the same machine. So which side is which decides
/// nothing, and verdicts, which wait for so many blocks, keep their promise. Empty for fewer
/// blocks, and for processes with one sample.
inline constexpr std::size_t blocks_of_warming = 10;
[[nodiscard]] std::optional<Warming> warming(std::span<const Block> blocks, double alpha = 0.01);

/// What ends the blocks of a duel.
enum class DuelEnd { verdict, blocks, budget, interrupt };
inline constexpr NameTable<DuelEnd, 4> duel_ends{"end of a duel",
                                                 {{{DuelEnd::verdict, "verdict"},
                                                   {DuelEnd::blocks, "blocks"},
                                                   {DuelEnd::budget, "budget"},
                                                   {DuelEnd::interrupt, "interrupt"}}}};

/// Two sides, and what was measured of them.
struct Duel {
  std::function<Block(Side first)> run;
  std::vector<Block> blocks = {};
  std::optional<Warming> warming = {}; ///< found once, and left out of all blocks
  double seconds = 0;                  ///< that its blocks took, all around included
  Standing standing = {};              ///< see judge()
  DuelEnd end = DuelEnd::interrupt;    ///< what run_blocks() found, if it came so far

  [[nodiscard]] bool decided() const { return standing.verdict != Verdict::unclear; }
  [[nodiscard]] std::size_t left_out() const { return warming ? warming->samples : 0; }
  [[nodiscard]] std::vector<double> quotients() const;
};

/// Sets the standing of a duel that has blocks. Where processes may warm up there is no interval,
/// and so no verdict, before that was looked for.
void judge(Duel& duel, const VerdictRule& rule);

struct BlockLimits {
  double seconds = 0;           ///< no block begins that would probably end later
  std::int64_t most_blocks = 0; ///< 0: as many as the time allows
};

/// Takes blocks and judges them, from 500 on not after each, until the duel is decided or a limit
/// is reached; one at least. The coin is `seed`'s. `elapsed` is the time in seconds until now, and
/// is asked between blocks; `on_block` is told after each. Returns false after Ctrl-C, which loses
/// the block in progress; throws what a run throws.
bool run_blocks(Duel& duel, const VerdictRule& rule, const BlockLimits& limits, std::uint64_t seed,
                const std::function<double()>& elapsed, const std::function<void()>& on_block);

} // namespace diffbench::bench
