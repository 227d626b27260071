// SPDX-License-Identifier: Apache-2.0
// Two revisions of the repository here, each built in a worktree of its own.
#pragma once

#include "interrupt.hpp"
#include "sides.hpp"
#include "temporary_directory.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

struct RevisionPlan {
  std::string a, b;       ///< anything that git knows as a commit
  std::string build = {}; ///< shell command that builds a worktree, in it; empty: nothing to build
  std::string run;        ///< what is timed, in each of them
  double build_seconds = 0; ///< limit of a build; 0: none
};

/// "v1.0..HEAD". Throws InvalidInput.
[[nodiscard]] std::pair<std::string, std::string> parse_revisions(std::string_view option,
                                                                  std::string_view text);

/// Where diffbench runs in a subdirectory of the repository, so do build and command in that of
/// their worktree. The worktrees go with it, whatever has become of them.
class BuiltRevisions {
 public:
  /// Blocks while they are built. Throws InvalidInput for what git does not know, Error for a
  /// build that fails or takes too long, Interrupted.
  explicit BuiltRevisions(const RevisionPlan& plan);

  [[nodiscard]] Command command(Side side) const;
  /// Of A and B, their full names.
  [[nodiscard]] const std::vector<std::string>& commits() const { return commits_; }
  /// Whether the working tree has changes that neither revision has.
  [[nodiscard]] bool dirty() const { return dirty_; }

 private:
  [[nodiscard]] std::string worktree(Side side) const;
  [[nodiscard]] std::string directory(Side side) const;
  /// The name is for messages: by now it may be that of another commit.
  void build(Side side, const std::string& revision, const std::string& commit);

  /// Removes the worktrees and tells git to forget them, and no others, also where it was killed
  /// while it made one. A second Ctrl-C waits for that.
  struct Places {
    SuddenEndHeld held = {};
    std::optional<TemporaryDirectory> directory{std::in_place};
    std::vector<std::string> worktrees = {};

    Places() = default;
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;
    ~Places();
  };

  RevisionPlan plan_;
  Places places_;
  std::string prefix_; ///< of this directory in the repository; empty: its root
  std::vector<std::string> commits_;
  bool dirty_ = false;
};

} // namespace diffbench::bench
