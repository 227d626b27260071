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

/// One process of a side.
struct SideReading {
  std::vector<double> samples;        ///< seconds, each above 0, in their order; one at least
  std::optional<ProgramRun> run = {}; ///< of a whole process, whose only sample is its time

  /// Median of the samples but for the first `left_out`, of which there are more.
  [[nodiscard]] double seconds(std::size_t left_out = 0) const;
};

struct Block {
  Side first = Side::a;
  SideReading a, b; ///< with as many samples each

  [[nodiscard]] SideReading& of(Side side) { return side == Side::a ? a : b; }
  /// The median of the quotients of the pairs but for the first `left_out`, in logarithms: to
  /// exchange A and B inverts it.
  [[nodiscard]] double quotient(std::size_t left_out = 0) const;
};

/// A block of one run a side.
[[nodiscard]] Block block_of_runs(Side first, const std::function<SideReading(Side)>& run);

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
inline constexpr int pairs_of_block = 9;
/// A block of two such processes: both are started, then take a sample each in turn, so that a pair
/// has met the same machine; the order changes from pair to pair.
[[nodiscard]] Block block_of_pairs(Side first,
                                   const std::function<std::unique_ptr<Sampler>(Side)>& start);

/// What the first samples of a process are, compared with its later ones.
struct Warming {
  std::size_t samples = 0; ///< of each process, from the first on, that are left out
  double longer = 1;       ///< median of the first one over the median of the later ones
};
/// The rule, by the first blocks_of_warming blocks, as many processes as twice that: a first sample
/// is warming where it was slower than the later ones' median in so many of them that the
/// sequential sign test shows it at `alpha`, and so is each one after it that is; at most half of
/// them. The processes of both sides count alike, so which side is which decides nothing, and
/// verdicts keep their promise. Empty for fewer blocks, and for processes with one sample.
inline constexpr std::size_t blocks_of_warming = 5;
[[nodiscard]] std::optional<Warming> warming(std::span<const Block> blocks, double alpha = 0.01);

/// Two sides, and what was measured of them.
struct Duel {
  std::string label; ///< what tells it from the others; empty for the only one
  std::function<Block(Side first)> run;
  std::vector<Block> blocks = {};
  std::optional<Warming> warming = {}; ///< found once, and left out of all blocks
  double seconds = 0;                  ///< that its blocks took, all around included
  bool decided = false;

  [[nodiscard]] std::size_t left_out() const { return warming ? warming->samples : 0; }
  [[nodiscard]] std::vector<double> quotients() const;
};

struct BlockLimits {
  double seconds = 0;           ///< no block begins that would probably end later
  std::int64_t most_blocks = 0; ///< of each duel; 0: as many as the time allows
};

/// Takes blocks of the duels in turn, until each is decided or a limit is reached; each has one at
/// least. The coin is `seed`'s. `elapsed` is the time in seconds until now, and is asked between
/// blocks; `on_block` is told after each. Returns false after Ctrl-C, which loses the block in
/// progress; throws what a run throws.
bool run_blocks(std::span<Duel> duels, const VerdictRule& rule, const BlockLimits& limits,
                std::uint64_t seed, const std::function<double()>& elapsed,
                const std::function<void()>& on_block);

} // namespace diffbench::bench
