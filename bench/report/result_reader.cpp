// SPDX-License-Identifier: Apache-2.0
#include "result_reader.hpp"

#include "context.hpp"
#include "result_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// No result file comes near: 1000 samples of 100 rows are 30 MB.
constexpr std::uintmax_t max_file_bytes = std::uintmax_t{256} << 20;

[[noreturn]] void refuse(const fs::path& path, std::string_view what) {
  throw InvalidInput(fmt::format("{}: {}", path.string(), what));
}

std::ifstream opened(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    refuse(path, "there is no such file; `diffbench --json FILE` writes one");
  }
  if (!fs::is_regular_file(path, error)) {
    refuse(path, "is not a regular file; name a result file in JSON");
  }
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) {
    refuse(path, "cannot be read: " + error.message());
  }
  if (bytes == 0) {
    refuse(path, "is empty, as after a run that was killed; run it again");
  }
  if (bytes > max_file_bytes) {
    refuse(path, fmt::format("has {}; a result file has at most {}: name one in JSON",
                             format_bytes(static_cast<std::int64_t>(bytes)),
                             format_bytes(static_cast<std::int64_t>(max_file_bytes))));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    refuse(path, "cannot be opened; check its permissions");
  }
  return file;
}

/// No result file nests deeper, and what writes it again calls itself once a level.
constexpr int max_depth = 100;

/// Keeps as many of a long list of numbers as an overview has, evenly chosen.
void thin(ordered_json& list) {
  const std::size_t count = list.size();
  if (count <= overview_length || !list.front().is_number() || !list.back().is_number()) {
    return;
  }
  ordered_json kept = ordered_json::array();
  for (std::size_t i = 0; i < overview_length; ++i) {
    kept.push_back(std::move(list[i * (count - 1) / (overview_length - 1)]));
  }
  list = std::move(kept);
}

/// What the parser asks at each beginning and end: shall it stay? Nothing else of a file that is
/// read in Detail::overview is ever in memory.
class Overview {
 public:
  bool operator()(int depth, ordered_json::parse_event_t event, ordered_json& parsed) {
    using Event = ordered_json::parse_event_t;
    if (depth == 1 && event == Event::key) {
      in_benchmarks_ = parsed == "benchmarks";
    }
    if (event == Event::array_end) {
      thin(parsed);
    }
    return !(in_benchmarks_ && depth == 2 && event == Event::object_start);
  }

 private:
  bool in_benchmarks_ = false;
};

ordered_json::parser_callback_t keeper(const fs::path& path, Detail detail) {
  return [&path, detail, overview = Overview()](int depth, ordered_json::parse_event_t event,
                                                ordered_json& parsed) mutable {
    if (depth > max_depth) {
      refuse(path, fmt::format("nests deeper than {} levels; no result file does", max_depth));
    }
    return detail == Detail::all || overview(depth, event, parsed);
  };
}

/// `text` is a string or a stream.
template <typename Text>
ordered_json parse(const fs::path& path, Text&& text, Detail detail) {
  try {
    return ordered_json::parse(std::forward<Text>(text), keeper(path, detail));
  } catch (const ordered_json::parse_error& error) {
    // Its text quotes what it last read, which may be anything; the place is what helps.
    refuse(path, fmt::format("is not JSON, or was cut off: an error at byte {}; write it again",
                             error.byte));
  } catch (const ordered_json::exception&) {
    refuse(path, "holds a number beyond the range of a double; write it again");
  }
}

bool is_benchmark_file(const ordered_json& json) {
  const ordered_json& benchmarks = member(json, "benchmarks");
  return member(json, "context").is_object() && benchmarks.is_array() &&
         std::ranges::all_of(benchmarks,
                             [](const ordered_json& entry) { return entry.is_object(); });
}

/// Each result has a command and the times of its runs.
bool is_hyperfine_file(const ordered_json& json) {
  const ordered_json& results = member(json, "results");
  return results.is_array() && !results.empty() &&
         std::ranges::all_of(results, [](const ordered_json& result) {
           return member(result, "command").is_string() && member(result, "times").is_array();
         });
}

void check_schema(const fs::path& path, const ordered_json& own) {
  if (!own.is_object() || !member(own, "schema").is_number_integer()) {
    refuse(path, "its part `diffbench` has no schema; it was not written by diffbench --json");
  }
  const ordered_json& schema = member(own, "schema");
  if (schema > result_schema) {
    refuse(path, fmt::format("has schema {} and this diffbench knows {}; use the newer diffbench",
                             schema.dump(), result_schema));
  }
  if (schema != result_schema) {
    refuse(path, fmt::format("has schema {}, which does not exist", schema.dump()));
  }
}

} // namespace

const ordered_json& member(const ordered_json& value, std::string_view name) {
  static const ordered_json none;
  const auto found = value.is_object() ? value.find(name) : value.end();
  return found == value.end() ? none : *found;
}

ordered_json read_result_file(const fs::path& path, Origin origin, Detail detail) {
  std::ifstream file = opened(path);
  ordered_json json = parse(path, file, detail);
  if (!member(json, "diffbench_live").is_null()) {
    throw OtherFile(
        fmt::format("{}: was saved by the live card of a page; a browser's times cannot be "
                    "compared with the program's. `diffbench --json FILE` writes a result file",
                    path.string()));
  }
  if (member(json, "traceEvents").is_array()) {
    throw OtherFile(
        fmt::format("{}: is a trace (--trace), not a result file; ui.perfetto.dev "
                    "shows it, and `diffbench --json FILE` writes a result file",
                    path.string()));
  }
  if (origin == Origin::any_times && is_hyperfine_file(json)) {
    return json;
  }
  if (!is_benchmark_file(json)) {
    refuse(path, origin == Origin::ours
                     ? "is JSON, but no result file; `diffbench --json FILE` writes one"
                     : "is JSON, but no result file: those of diffbench (--json) and of Google "
                       "Benchmark (--benchmark_out) have context and benchmarks[]");
  }
  if (const auto own = json.find("diffbench"); own != json.end()) {
    check_schema(path, *own);
  } else if (origin == Origin::ours) {
    refuse(path, "was written by another program; this needs a file of diffbench --json");
  }
  return json;
}

} // namespace diffbench::bench
