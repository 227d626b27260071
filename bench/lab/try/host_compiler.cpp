// SPDX-License-Identifier: Apache-2.0
#include "host_compiler.hpp"

#include "child_process.hpp"
#include "diffbench/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>

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

} // namespace

Said run_command(std::vector<std::string> command, const fs::path& work_dir) {
  const fs::path file = work_dir / "messages.txt";
  const std::string program = command.front();
  // A file of a GiB and memory of 8 are more than a kernel needs, and less than a disk has.
  command.insert(
      command.begin(),
      {"sh", "-c",
       "m=$1; shift; ulimit -f 2097152; ulimit -v 8388608; LC_ALL=C exec \"$@\" 2> \"$m\"", "sh",
       file.string()});
  ChildProcess child(command);
  const auto status = child.wait(compile_limit);
  if (!status) {
    child.kill_now();
    throw InvalidInput(fmt::format("{} takes longer than {:g} s", program, compile_limit.count()));
  }
  std::ifstream messages(file, std::ios::binary);
  return {*status, {std::istreambuf_iterator<char>(messages), {}}};
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
    if (line.find("error:") != std::string::npos) {
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

} // namespace diffbench::bench
