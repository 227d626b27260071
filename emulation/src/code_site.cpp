// SPDX-License-Identifier: Apache-2.0
#include "code_site.hpp"

#include "user_image.hpp"

#include <deque>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace diffbench::emulation {
namespace {

constexpr std::uint64_t is_line = std::uint64_t{1} << 47; // addresses of programs are below
std::deque<detail::Site> lines;
std::map<std::pair<const void*, int>, std::uint64_t> numbers;

std::string without_folder(const std::string& path) {
  return path.substr(path.rfind('/') + 1); // npos + 1: all of it
}

// What addr2line says, which comes with the compiler's linker: lines, from the innermost function
// outwards. Without a shell, to which a file's name may mean more.
std::string ask_addr2line(const std::string& file, std::uint64_t address) {
  std::ostringstream where;
  where << "0x" << std::hex << address;
  const std::string place = where.str();
  const char* const words[] = {"addr2line", "-i", "-e", file.c_str(), place.c_str(), nullptr};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return {};
  }
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_adddup2(&streams, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, words[0], &streams, nullptr, const_cast<char* const*>(words), environ);
  ::posix_spawn_file_actions_destroy(&streams);
  ::close(ends[1]);
  std::string answer;
  char part[256];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
    answer.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (failure == 0) {
    ::waitpid(child, nullptr, 0);
  }
  return answer;
}

std::string lines_at(std::uint64_t address) {
  Dl_info info{};
  void* found = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(address), &info, &found, RTLD_DL_LINKMAP) == 0) {
    return {};
  }
  const auto* const object = static_cast<const link_map*>(found);
  const bool is_program = object->l_name[0] == '\0';
  std::istringstream answer(ask_addr2line(
      is_program ? std::filesystem::read_symlink("/proc/self/exe").string() : object->l_name,
      address - object->l_addr));
  std::string result;
  for (std::string line; std::getline(answer, line);) {
    result += (result.empty() ? "" : " in ") + without_folder(line.substr(0, line.find(' ')));
  }
  return result;
}

} // namespace

std::uint64_t site_at(detail::Site line) {
  const auto [entry, is_new] = numbers.try_emplace({line.file, line.line}, is_line | lines.size());
  if (is_new) {
    lines.push_back(line);
  }
  return entry->second;
}

CodeLine code_line_of(std::uint64_t site) {
  if ((site & is_line) != 0) {
    const detail::Site& line = lines[site & ~is_line];
    return {without_folder(line.file), line.line};
  }
  return user_line(site);
}

std::string line_of(std::uint64_t site) {
  if (const CodeLine line = code_line_of(site); line.line != 0) {
    return line.file + ":" + std::to_string(line.line);
  }
  if (in_user_image(reinterpret_cast<const void*>(site))) {
    return "code that has no line";
  }
  static auto& known = *new std::map<std::uint64_t, std::string>;
  std::string& line = known[site];
  if (line.empty()) {
    line = lines_at(site);
  }
  if (line.empty() || line.starts_with('?')) {
    std::ostringstream address;
    address << "0x" << std::hex << site;
    line = address.str();
  }
  return line;
}

} // namespace diffbench::emulation
