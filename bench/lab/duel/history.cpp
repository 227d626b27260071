#include "history.hpp"

#include "child_process.hpp"
#include "diffbench/errors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

constexpr const char* schema_member = "diffbench_history";
constexpr int history_schema = 1;

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw Error(
      fmt::format("--history {}: cannot {}: {}", path.string(), what, std::strerror(errno)));
}

ordered_json json_of(const HistoryEntry& entry) {
  ordered_json interval;
  if (const auto& known = entry.ratio.interval) {
    interval = {{"low", known->low}, {"high", known->high}, {"confidence", known->confidence}};
  }
  return {{schema_member, history_schema},
          {"date", entry.date},
          {"host_name", entry.row.host},
          {"cpu_model", entry.row.cpu},
          {"a", entry.row.a},
          {"b", entry.row.b},
          {"label", entry.row.label},
          {"blocks", entry.blocks},
          {"a_seconds", entry.a_seconds},
          {"b_seconds", entry.b_seconds},
          {"ratio", entry.ratio.value},
          {"interval", std::move(interval)},
          {"verdict", entry.verdict},
          {"disturbed", entry.disturbed}};
}

std::optional<HistoryEntry> entry_of(const std::string& line) {
  try {
    const ordered_json json = ordered_json::parse(line);
    if (json.at(schema_member) != history_schema) {
      return std::nullopt;
    }
    HistoryEntry entry{.row = {.a = json.at("a"),
                               .b = json.at("b"),
                               .label = json.at("label"),
                               .host = json.at("host_name"),
                               .cpu = json.at("cpu_model")},
                       .date = json.at("date"),
                       .blocks = json.at("blocks"),
                       .a_seconds = json.at("a_seconds"),
                       .b_seconds = json.at("b_seconds"),
                       .ratio = {.value = json.at("ratio"), .interval = {}},
                       .verdict = json.at("verdict"),
                       .disturbed = json.at("disturbed")};
    if (const ordered_json& interval = json.at("interval"); !interval.is_null()) {
      entry.ratio.interval =
          Interval{interval.at("low"), interval.at("high"), interval.at("confidence")};
    }
    return entry.ratio.value > 0 ? std::optional(std::move(entry)) : std::nullopt;
  } catch (const ordered_json::exception&) {
    return std::nullopt;
  }
}

/// Open for appending, and nobody else's until it is closed.
FileDescriptor locked(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    fail(path, "open");
  }
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    throw InvalidInput(fmt::format("--history {}: is not a regular file", path.string()));
  }
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      fail(path, "lock");
    }
  }
  return file;
}

/// Whether a line was cut off at its end.
bool ends_within_a_line(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

} // namespace

void append_history(const std::filesystem::path& path, std::span<const HistoryEntry> entries) {
  const FileDescriptor file = locked(path);
  std::string lines = ends_within_a_line(file.get()) ? "\n" : "";
  for (const HistoryEntry& entry : entries) {
    lines += json_of(entry).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }
  for (std::size_t done = 0; done < lines.size();) {
    const ssize_t size = ::write(file.get(), lines.data() + done, lines.size() - done);
    if (size < 0 && errno != EINTR) {
      fail(path, "write");
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
  }
  if (::fdatasync(file.get()) != 0) {
    fail(path, "write");
  }
}

History read_history(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw InvalidInput(
        fmt::format("{}: there is no such file; `diffbench duel ... --history FILE` writes one",
                    path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  History history;
  for (std::string line; std::getline(file, line);) {
    if (auto entry = entry_of(line)) {
      history.entries.push_back(std::move(*entry));
    } else {
      ++history.cut_off;
    }
  }
  if (history.entries.empty()) {
    throw InvalidInput(
        fmt::format("{}: has no line of a history; `diffbench duel ... --history FILE` writes them",
                    path.string()));
  }
  return history;
}

} // namespace diffbench::bench
