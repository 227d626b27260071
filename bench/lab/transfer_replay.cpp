#include "transfer_replay.hpp"

#include "diffbench/errors.hpp"
#include "output.hpp"
#include "result_reader.hpp"
#include "transfer_json.hpp"
#include "transfer_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

/// A fact of the context as text; "unknown" where there is none, as the host's name of a published
/// file is not.
std::string fact(const ordered_json& context, const char* name) {
  const auto found = context.find(name);
  const std::string text =
      found != context.end() && found->is_string() ? one_line(found->get<std::string>()) : "";
  return text.empty() ? "unknown" : text;
}

TransferResult read_recorded(const std::filesystem::path& file, const ordered_json& own) {
  const auto found = own.find("transfer");
  if (found == own.end()) {
    throw InvalidInput(
        fmt::format("{}: holds no result of `diffbench transfer`; record one with "
                    "diffbench transfer --json FILE",
                    file.string()));
  }
  try {
    return transfer_from_json(*found);
  } catch (const InvalidInput& error) {
    throw InvalidInput(
        fmt::format("{}: its transfer result was changed or is not whole: {}; "
                    "record it again",
                    file.string(), error.what()));
  }
}

} // namespace

std::string replay_transfer(const std::filesystem::path& file) {
  const ordered_json json = read_result_file(file, Origin::ours);
  const TransferResult result = read_recorded(file, json["diffbench"]);
  const ordered_json& context = json["context"];
  const bool was_interrupted = json["diffbench"].value("interrupted", ordered_json()) == true;
  return fmt::format(
      "RECORDED, not measured here: {}\n"
      "  host {}, at {}\n"
      "  CPU {}, GPU {}; diffbench {}, commit {}\n"
      "  by {}{}\n\n"
      "{}\nRecorded: {}\n",
      one_line(file.string()), fact(context, "host_name"), fact(context, "date"),
      fact(context, "cpu_model"), result.device ? result.device->name : "none",
      fact(context, "diffbench_version"), fact(context, "git_sha"),
      fact(json["diffbench"], "command"), was_interrupted ? "\n  INTERRUPTED: not all of it" : "",
      format_transfer(result), transfer_sentence(result));
}

} // namespace diffbench::bench
