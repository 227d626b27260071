// SPDX-License-Identifier: Apache-2.0
#include "host_compiler.hpp"

#include "child_process.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include <sys/syscall.h>
#include <unistd.h>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

constexpr Seconds compile_limit(60);
constexpr Seconds version_limit(10);

bool is_there(const std::string& program) {
  try {
    return ChildProcess({program, "--version"}).wait(version_limit) == 0;
  } catch (const Error&) {
    return false;
  }
}

std::string first_there(const std::vector<std::string>& names, std::string_view language,
                        std::string_view package) {
  for (const std::string& name : names) {
    if (is_there(name)) {
      return name;
    }
  }
  throw Unavailable(
      fmt::format("no compiler for {}: there is no {}; get one with: apt-get install "
                  "{}",
                  language, fmt::join(names, ", "), package));
}

/// `words` come before the command.
Said run(std::vector<std::string> words, const std::vector<std::string>& command,
         const fs::path& work_dir) {
  const fs::path file = work_dir / "messages.txt";
  // A file of a GiB and memory of 8 are more than a kernel needs, and less than a disk has.
  words.insert(words.begin(),
               {"sh", "-c",
                "m=$1; export TMPDIR=\"$2\" CCACHE_DISABLE=1 LC_ALL=C; shift 2; ulimit -f 2097152; "
                "ulimit -v 8388608; exec \"$@\" 2> \"$m\"",
                "sh", file.string(), work_dir.string()});
  words.insert(words.end(), command.begin(), command.end());
  ChildProcess child(words);
  const Stopwatch watch;
  const auto left = [&watch] {
    return std::max(Seconds(0), compile_limit - Seconds(watch.seconds()));
  };
  ChildProcess::Outcome outcome{};
  do { // it has ended where its stdout is closed
    std::string line;
    outcome = child.read_line(line, left(), interrupted);
  } while (outcome == ChildProcess::Outcome::line);
  if (outcome == ChildProcess::Outcome::interrupted) {
    child.kill_now();
    throw Interrupted();
  }
  const auto status = child.wait(left());
  if (!status) {
    child.kill_now();
    throw InvalidInput(
        fmt::format("{} takes longer than {:g} s", command.front(), compile_limit.count()));
  }
  std::ifstream messages(file, std::ios::binary);
  return {*status, {std::istreambuf_iterator<char>(messages), {}}};
}

} // namespace

fs::path child_program() {
  std::error_code ignored;
  const fs::path folder = program_path().parent_path();
  for (const fs::path& place : {folder / "diffbench_try_child",
                                folder.parent_path() / "libexec/diffbench/diffbench_try_child"}) {
    if (fs::exists(place, ignored)) {
      return place;
    }
  }
  throw Unavailable(
      fmt::format("there is no diffbench_try_child in {} or {}: install diffbench as a whole",
                  folder.string(), (folder.parent_path() / "libexec/diffbench").string()));
}

bool compilers_can_be_confined() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1 /* asks for the version */) >= 1;
}

Said run_confined(const std::vector<std::string>& command, const fs::path& work_dir,
                  const std::vector<fs::path>& readable) {
  std::vector<std::string> words = {child_program().string(), "compile", work_dir.string(),
                                    fmt::to_string(readable.size())};
  std::ranges::transform(readable, std::back_inserter(words),
                         [](const fs::path& path) { return path.string(); });
  return run(std::move(words), command, work_dir);
}

Said run_command(const std::vector<std::string>& command, const fs::path& work_dir) {
  return run({}, command, work_dir);
}

std::string find_c_compiler(const std::string& chosen) {
  return chosen.empty() ? first_there({"cc", "gcc", "clang"}, "C", "gcc")
                        : first_there({chosen}, "C", "gcc");
}
std::string find_cpp_compiler(const std::string& chosen) {
  return chosen.empty() ? first_there({"c++", "g++", "clang++"}, "C++", "g++")
                        : first_there({chosen}, "C++", "g++");
}

std::string first_error(const std::string& text, const fs::path& file) {
  std::istringstream lines(text);
  std::string first, line;
  while (std::getline(lines, line)) {
    if (first.empty()) {
      first = line;
    }
    if (line.find("error:") != std::string::npos || line.find("Error:") != std::string::npos) {
      first = line;
      break;
    }
  }
  const std::string whole = fs::absolute(file).string();
  if (const auto at = first.find(whole); at != std::string::npos) {
    first.replace(at, whole.size(), file.filename().string());
  }
  return first.empty() ? "the compiler says nothing" : first;
}

std::string why_not_compiled(const std::string& text, const fs::path& file) {
  static const std::regex machine(
      "[^|]*(No space left on device|Disk quota exceeded|annot allocate "
      "memory|out of memory|memory exhausted|Killed signal|Resource "
      "temporarily unavailable|Read-only file system)[^|]*");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, machine)) { // lines of the source have a |
      throw Unavailable(
          fmt::format("{} cannot be compiled here: {}", file.filename().string(), line));
    }
  }
  const std::string error = first_error(text, file);
  const bool refused = error.find("Permission denied") != std::string::npos ||
                       error.find("file not found: ") != std::string::npos; // the assembler's
  return fmt::format("{} {}: {}", file.filename().string(),
                     refused ? "includes what is not there, or neither its own nor a header of the "
                               "class, the system or --flags"
                             : "does not compile",
                     error);
}

} // namespace diffbench::bench
