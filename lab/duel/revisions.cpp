// SPDX-License-Identifier: Apache-2.0
#include "revisions.hpp"

#include "child_process.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

namespace diffbench::bench {

namespace {

struct Done {
  int status = 0;
  std::string last_words;
};

Done run(std::vector<std::string> words, const std::string& directory = {},
         double limit_seconds = 0) {
  ProgramOutput output;
  const ProgramRun done =
      Program({.words = std::move(words), .directory = directory, .limit_seconds = limit_seconds})
          .run(output);
  return {.status = done.status, .last_words = one_line(output.last_words)};
}

/// The one line that git answers with; empty where it fails or says more.
std::string answer_of_git(const std::vector<std::string>& words) {
  ChildProcess git(words);
  constexpr std::chrono::seconds limit(60);
  const auto next = [&](std::string& line) {
    switch (git.read_line(line, limit, interrupted)) {
      case ChildProcess::Outcome::line: return true;
      case ChildProcess::Outcome::closed: return false;
      case ChildProcess::Outcome::interrupted: throw Interrupted();
      case ChildProcess::Outcome::timeout: break;
    }
    throw Error("--revisions: git does not answer");
  };
  std::string line;
  std::string more;
  return next(line) && !next(more) && git.wait(limit) == 0 ? line : "";
}

/// Its full name; empty for what names none, or several.
std::string commit_of(const std::string& revision) {
  const std::string name =
      answer_of_git({"git", "rev-parse", "--verify", "--quiet", revision + "^{commit}"});
  return name.find_first_not_of("0123456789abcdef") == std::string::npos ? name : "";
}

} // namespace

std::pair<std::string, std::string> parse_revisions(std::string_view option,
                                                    std::string_view text) {
  constexpr std::string_view between = "..";
  const std::size_t at = text.find(between);
  if (at == 0 || at == std::string_view::npos || at + between.size() == text.size() ||
      text.find(between, at + 1) != std::string_view::npos) {
    throw InvalidInput(fmt::format("{} {}: give two revisions such as v1.0..HEAD", option, text));
  }
  return {std::string(text.substr(0, at)), std::string(text.substr(at + between.size()))};
}

BuiltRevisions::BuiltRevisions(const RevisionPlan& plan) : plan_(plan) {
  if (const Done done = run({"git", "rev-parse", "--git-dir"}); done.status != 0) {
    throw InvalidInput(
        fmt::format("--revisions: git takes no repository here: {}", done.last_words));
  }
  for (const std::string& revision : {plan.a, plan.b}) {
    commits_.push_back(commit_of(revision));
    if (commits_.back().empty()) {
      throw InvalidInput(
          fmt::format("--revisions: {} does not name one commit that is here; a shallow clone "
                      "has few: git fetch --unshallow gets all",
                      revision));
    }
  }
  prefix_ = answer_of_git({"git", "rev-parse", "--show-prefix"});
  constexpr int differs = 1; // anything else: there is no working tree
  dirty_ = run({"git", "diff", "--quiet", "HEAD"}).status == differs;
  build(Side::a, plan.a, commits_.front());
  build(Side::b, plan.b, commits_.back());
}

BuiltRevisions::Places::~Places() {
  directory.reset();
  for (const std::string& worktree : worktrees) {
    try { // no Program: it would give up after Ctrl-C. Once more --force: also if it is locked
      ChildProcess git({"git", "worktree", "remove", "--force", "--force", worktree});
      (void)git.wait(std::chrono::seconds(10));
    } catch (const Error&) { // git itself forgets them in three months
    }
  }
}

std::string BuiltRevisions::worktree(Side side) const {
  return (places_.directory->path() / (side == Side::a ? "a" : "b"))
      .string(); // equally long: see placement
}

std::string BuiltRevisions::directory(Side side) const {
  return prefix_.empty() ? worktree(side) : worktree(side) + "/" + prefix_;
}

void BuiltRevisions::build(Side side, const std::string& revision, const std::string& commit) {
  const std::string place = worktree(side);
  places_.worktrees.push_back(place);
  if (const Done done = run({"git", "worktree", "add", "--detach", place, commit});
      done.status != 0) {
    throw Error(fmt::format("--revisions: git worktree add {}: {}", revision, done.last_words));
  }
  if (!std::filesystem::is_directory(directory(side))) {
    const std::string lack = fmt::format("--revisions: {} has no directory {}", revision, prefix_);
    if (side == Side::a) {
      throw InvalidInput(lack);
    }
    throw Error(lack); // as in CommandSides
  }
  if (plan_.build.empty()) {
    return;
  }
  const Done done = as_of("--build", [&] {
    // Some tools tell errors on stdout, and leave their files where they are stopped.
    const std::string files = places_.directory->path() / "files";
    std::filesystem::create_directories(files);
    return run({"sh", "-c", "export TMPDIR=\"$0\"; exec >&2\n" + plan_.build, files},
               directory(side), plan_.build_seconds);
  });
  if (done.status != 0) {
    throw Error(fmt::format("--build: {} does not build, exit code {}{}{}", revision, done.status,
                            done.last_words.empty() ? "" : ": ", done.last_words));
  }
}

Command BuiltRevisions::command(Side side) const {
  return {.text = plan_.run, .directory = directory(side)};
}

} // namespace diffbench::bench
