// SPDX-License-Identifier: Apache-2.0
#include "host_compiler.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/text.hpp"
#include "interrupt.hpp"
#include "process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

constexpr double compile_seconds = 60;
constexpr double version_seconds = 10;

FileDescriptor nowhere() { return FileDescriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)); }

bool is_there(const std::string& program) {
  const FileDescriptor none = nowhere();
  try {
    Process asked(
        {.words = {program, "--version"}, .in = none.get(), .out = none.get(), .err = none.get()});
    const auto& end = asked.wait(version_seconds);
    return end && end->status == 0;
  } catch (const Error&) {
    return false;
  }
}

/// `words` come before the command.
Said run(std::vector<std::string> words, const std::vector<std::string>& command,
         const fs::path& work_dir) {
  const fs::path file = work_dir / "messages.txt";
  // A file of a GiB and memory of 8 are more than a kernel needs, and less than a disk has.
  words.insert(words.begin(), {"sh", "-c",
                               "export TMPDIR=\"$1\" CCACHE_DISABLE=1 LC_ALL=C; shift; "
                               "ulimit -f 2097152; ulimit -v 8388608; exec \"$@\"",
                               "sh", work_dir.string()});
  words.insert(words.end(), command.begin(), command.end());
  const FileDescriptor none = nowhere();
  const FileDescriptor errors(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (errors.get() < 0) {
    throw Unavailable(fmt::format("{} cannot run here: {}: {}", command.front(), file.string(),
                                  std::strerror(errno)));
  }
  Process compiler({.words = words, .in = none.get(), .out = errors.get(), .err = errors.get()});
  const auto& end = compiler.wait(compile_seconds, interrupted);
  if (!end) {
    check_interrupt();
    throw InvalidInput(
        fmt::format("{} takes longer than {:g} s", command.front(), compile_seconds));
  }
  std::ifstream messages(file, std::ios::binary);
  return {end->status, {std::istreambuf_iterator<char>(messages), {}}};
}

/// The first line that says what the machine did.
std::optional<std::string> line_of_machine(const std::string& text) {
  static const std::regex machine( // lines that quote the source have a |
      "[^|]*("
      "No space left on device|Disk quota exceeded|File size limit exceeded|File too large|"
      "Read-only file system|Input/output error|Too many open files|"
      "annot allocate memory|out of memory|memory exhausted|Resource temporarily unavailable|"
      "signal terminated program|terminated with signal|internal compiler error|"
      "loading shared libraries|annot execute"
      ")[^|]*");
  static const std::regex of_user(
      "warning: |note: |#error|static assertion|static_assert|declared with attribute");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, machine) && !std::regex_search(line, of_user)) {
      return line;
    }
  }
  return std::nullopt;
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
  struct statvfs place {};
  if (::statvfs(work_dir.c_str(), &place) == 0 && (place.f_flag & ST_NOEXEC) != 0) {
    throw Unavailable(
        fmt::format("nothing can be loaded from {}, which is mounted noexec: set "
                    "TMPDIR to a folder elsewhere",
                    work_dir.parent_path().string()));
  }
  std::vector<std::string> words = {child_program().string(), "compile", work_dir.string(),
                                    fmt::to_string(readable.size())};
  std::ranges::transform(readable, std::back_inserter(words),
                         [](const fs::path& path) { return path.string(); });
  return run(std::move(words), command, work_dir);
}

Said run_command(const std::vector<std::string>& command, const fs::path& work_dir) {
  return run({}, command, work_dir);
}

std::string find_compiler(bool of_c, const std::string& chosen) {
  std::vector<std::string> names = of_c ? std::vector<std::string>{"cc", "gcc", "clang"}
                                        : std::vector<std::string>{"c++", "g++", "clang++"};
  if (!chosen.empty()) {
    names = {chosen};
  }
  const auto found = std::ranges::find_if(names, is_there);
  if (found == names.end()) {
    throw Unavailable(
        fmt::format("no compiler for {}: there is no {}; get one with: apt-get install {}",
                    of_c ? "C" : "C++", fmt::join(names, ", "), of_c ? "gcc" : "g++"));
  }
  return *found;
}

std::vector<Symbol> symbols_of(const fs::path& file, const fs::path& work_dir) {
  const char* const which = file.extension() == ".so" ? "--dynamic" : "--extern-only";
  const Said said = run_confined({"nm", which, file.string()}, work_dir, {file});
  constexpr int lacks_program = 127;
  if (said.status == lacks_program) {
    throw Unavailable("there is no nm; get it with: apt-get install binutils");
  }
  std::vector<Symbol> symbols;
  std::istringstream lines(said.text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::size_t digits = 16; // of an address, or as many blanks
    const bool is_symbol = line.find_first_not_of("0123456789abcdef ") == digits + 1 &&
                           line.size() > digits + 3 && line[digits] == ' ';
    if (is_symbol) {
      symbols.push_back({line.substr(digits + 3, line.find('@') - digits - 3), line[digits + 1]});
    }
  }
  if (symbols.empty() && (said.text.empty() || line_of_machine(said.text))) {
    throw Unavailable(fmt::format("nm does not work here: {}", one_line(said.text)));
  }
  if (said.status != 0 || symbols.empty()) {
    throw InvalidInput(
        fmt::format("{} is no shared library for 64 bits (ELF)", file.filename().string()));
  }
  return symbols;
}

std::string first_error(const std::string& text, const fs::path& file) {
  std::istringstream lines(text);
  std::string first, line;
  while (std::getline(lines, line)) {
    if (first.empty()) {
      first = line;
    }
    // The linker's last line has the word, and an earlier one says what is missing.
    const bool of_linker =
        line.starts_with("collect2:") || line.find("linker command failed") != std::string::npos;
    if (line.find("undefined reference") != std::string::npos ||
        (!of_linker &&
         (line.find("error:") != std::string::npos || line.find("Error:") != std::string::npos))) {
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

void refuse_compiled(const std::string& text, const fs::path& file) {
  static const std::regex of_file(
      ":[0-9]+:.*rror: |file not found: |"
      "undefined (reference|symbol)|multiple definition|duplicate symbol|relocation|"
      "(option|argument|value).*['‘]-");
  std::istringstream lines(text);
  bool is_of_file = false;
  for (std::string line; std::getline(lines, line);) {
    is_of_file = is_of_file || std::regex_search(line, of_file);
  }
  if (const auto line = line_of_machine(text)) {
    throw Unavailable(fmt::format(
        "{} cannot be compiled here: {}; mend that, or set TMPDIR or --compiler to others",
        file.filename().string(), *line));
  }
  const std::string error = first_error(text, file);
  const bool denied = error.find("Permission denied") != std::string::npos;
  const std::string why =
      fmt::format("{} {}: {}", file.filename().string(),
                  denied || error.find("file not found: ") != std::string::npos // the assembler's
                      ? "includes what is not there, or neither its own nor a header of the "
                        "class, the system or --flags (-IFOLDER)"
                      : "does not compile",
                  error);
  if (is_of_file && !denied) {
    throw InvalidInput(why);
  }
  throw Doubtful(why);
}

} // namespace diffbench::bench
