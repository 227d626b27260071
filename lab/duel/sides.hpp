// SPDX-License-Identifier: Apache-2.0
// What a duel runs on each side: commands, as they were typed.
#pragma once

#include "blocks.hpp"
#include "diffbench/errors.hpp"
#include "program_run.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

enum class Shell { none, sh };

/// How commands are run.
struct CommandSettings {
  Shell shell = Shell::none;
  std::string prepare = {}; ///< before each run, where it runs, outside of its time
  int warmup = 1;           ///< runs of each side before the blocks, whose output is read
  double limit_seconds = 0; ///< of each run
  bool same_output = false; ///< refuse sides that write something else
};

struct WarmUp {
  int runs = 0;       ///< of each side
  double seconds = 0; ///< both sides in the last of them, with what prepares them
};

/// Both sides of a duel, ready to run.
class CommandSides {
 public:
  /// Throws InvalidInput for commands that cannot be run, naming the side.
  CommandSides(const std::string& a, const std::string& b, const CommandSettings& settings);

  /// The runs before the blocks, which find out early what is wrong: one of each side at least
  /// where any is asked for, then as many as `has_time` allows. Throws Error for a side that fails,
  /// is out of time, or, where that is asked, writes something else than the other: then
  /// NotVerified.
  [[nodiscard]] WarmUp warm_up(const std::function<bool()>& has_time) const;
  /// One run of a side, after what prepares it. Throws Error as above, and Interrupted.
  [[nodiscard]] ProgramRun run(Side side) const;

 private:
  static std::size_t index_of(Side side) { return side == Side::a ? 0 : 1; }
  [[nodiscard]] const Program& program(Side side) const { return programs_[index_of(side)]; }
  template <typename Run>
  ProgramRun checked(Side side, Run run) const;
  void prepare() const;

  CommandSettings settings_;
  std::vector<Program> programs_;
  std::optional<Program> prepare_;
};

} // namespace diffbench::bench
