// SPDX-License-Identifier: Apache-2.0
#include "sweep_journal.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

namespace diffbench::bench {

using nlohmann::ordered_json;

namespace {

/// The first thing in which two headers differ, in words; empty when they are the same.
std::string difference(const ordered_json& there, const ordered_json& here) {
  std::set<std::string> parts;
  for (const auto& [part, values] : here.items()) {
    const ordered_json& others = there.value(part, ordered_json::object());
    std::set<std::string> names;
    for (const ordered_json* object : {&others, &values}) {
      for (const auto& [name, value] : object->items()) {
        names.insert(name);
      }
    }
    for (const std::string& name : names) {
      const ordered_json mine = values.value(name, ordered_json());
      const ordered_json other = others.value(name, ordered_json());
      if (mine != other) {
        auto text = [](const ordered_json& value) {
          return value.is_null() ? std::string("nothing") : value.dump();
        };
        return fmt::format("{} is {} there and {} here", name, text(other), text(mine));
      }
    }
  }
  return "";
}

std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// Of a text that ends with a line end; what is no JSON is there as such.
std::vector<ordered_json> parse_lines(std::string_view text) {
  std::vector<ordered_json> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(ordered_json::parse(text.substr(begin, end - begin), nullptr, false));
    begin = end + 1;
  }
  return lines;
}

[[noreturn]] void refuse_line(const std::filesystem::path& path, std::size_t number,
                              const char* what) {
  throw InvalidInput(fmt::format("{}: line {} {}", path.string(), number, what));
}

} // namespace

std::vector<SweepPoint> sweep_points(const std::filesystem::path& path,
                                     std::span<const ordered_json> lines) {
  std::vector<SweepPoint> points;
  std::set<std::vector<std::string>> seen;
  std::size_t number = 1;
  for (const ordered_json& line : lines) {
    ++number;
    try {
      points.push_back({.values = line.at("values").get<std::vector<std::string>>(),
                        .seconds = line.at("seconds").get<double>(),
                        .result = line.at("result")});
    } catch (const ordered_json::exception&) {
      refuse_line(path, number, "is not of a sweep");
    }
    if (!seen.insert(points.back().values).second) {
      refuse_line(path, number, "is there twice");
    }
  }
  return points;
}

SweepJournal::SweepJournal(std::filesystem::path path, const ordered_json& header, bool resume)
    : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | (resume ? 0 : O_CREAT), 0666);
  if (file_ < 0 && resume && errno == ENOENT) {
    throw InvalidInput(fmt::format("--resume: there is no {}; leave --resume out to begin a sweep",
                                   path_.string()));
  }
  if (file_ < 0) {
    fail("open");
  }
  try {
    struct stat about {};
    if (::fstat(file_, &about) != 0 || !S_ISREG(about.st_mode)) { // a device may have no end
      throw InvalidInput(
          fmt::format("--out {}: is not a regular file; a sweep must be able to read it again",
                      path_.string()));
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      throw Error(fmt::format("--out {}: another sweep is writing to it", path_.string()));
    }
    const std::string text = read_all();
    if (!resume && !text.empty()) {
      throw InvalidInput(
          fmt::format("--out {}: the file exists already; give --resume to continue its sweep, "
                      "or another name",
                      path_.string()));
    }
    // What follows the last line end is a line that was cut off while it was written.
    const std::size_t complete = text.rfind('\n') + 1; // npos + 1 is 0
    if (complete == 0) {
      if (!line_of(header).starts_with(text)) {
        throw InvalidInput(fmt::format("--resume: {} is not of this sweep", path_.string()));
      }
      if (::ftruncate(file_, 0) != 0) {
        fail("write");
      }
      write_line(header);
    } else {
      const std::vector<ordered_json> lines =
          parse_lines(std::string_view(text).substr(0, complete));
      check_header(lines.front(), header);
      points_ = sweep_points(path_, std::span(lines).subspan(1));
      if (::ftruncate(file_, static_cast<off_t>(complete)) != 0) {
        fail("write");
      }
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

SweepJournal::~SweepJournal() { ::close(file_); }

void SweepJournal::append(const SweepPoint& point) {
  write_line({{"values", point.values}, {"seconds", point.seconds}, {"result", point.result}});
}

std::string SweepJournal::read_all() const {
  std::string text;
  char part[1 << 16];
  for (ssize_t size = 0; (size = ::read(file_, part, sizeof part)) != 0;) {
    if (size < 0) {
      fail("read");
    }
    text.append(part, static_cast<std::size_t>(size));
  }
  return text;
}

void SweepJournal::check_header(const ordered_json& there, const ordered_json& here) const {
  std::string differs;
  try {
    differs = difference(there, here);
  } catch (const ordered_json::exception&) {
    refuse_line(path_, 1, "is not of a sweep");
  }
  if (!differs.empty()) {
    throw InvalidInput(
        fmt::format("--resume: {} is of another sweep: {}; give the same options, "
                    "or another --out",
                    path_.string(), differs));
  }
}

void SweepJournal::write_line(const ordered_json& json) const {
  const std::string line = line_of(json);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t size = ::write(file_, line.data() + done, line.size() - done);
    if (size < 0) {
      fail("write");
    }
    done += static_cast<std::size_t>(size);
  }
  if (::fdatasync(file_) != 0) {
    fail("write");
  }
}

void SweepJournal::fail(const char* what) const {
  throw Error(fmt::format("--out {}: cannot {}: {}", path_.string(), what, std::strerror(errno)));
}

} // namespace diffbench::bench
