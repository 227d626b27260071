#include "verbs.hpp"

#include "diffbench/errors.hpp"
#include "field_frames.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "page.hpp"
#include "report_file.hpp"
#include "result_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> results;
  std::string snapshots, out = "report.html";
};

/// A run that measured nothing has nothing to draw.
void require_results(const std::string& name, const nlohmann::ordered_json& own) {
  const std::string experiment = own.value("experiment", nlohmann::ordered_json()).is_string()
                                     ? own["experiment"].get<std::string>()
                                     : "results";
  if (const auto found = own.find(experiment); found == own.end() || found->empty()) {
    throw InvalidInput(fmt::format("{}: has no results to draw", name));
  }
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error; // of one that does not exist: then they are not the same
  return fs::equivalent(a, b, error);
}

int run_report(const ReportOptions& options, const Invocation& invocation) {
  const fs::path out = options.out;
  if (options.results.empty()) {
    throw InvalidInput(
        "report: name at least one result file, such as run.json of diffbench --json run.json");
  }
  (void)report_page(); // a build without one says so before any work
  check_writable_file("--out", out);
  std::vector<std::string> parts;
  for (const std::string& name : options.results) {
    if (same_file(name, out)) {
      throw InvalidInput(fmt::format("{}: is both a result file and --out; name another", name));
    }
    const nlohmann::ordered_json result = read_result_file(name, Origin::ours, Detail::overview);
    require_results(name, result["diffbench"]);
    parts.push_back(report_part(fs::path(name).filename().string(), result));
  }
  if (!options.snapshots.empty()) {
    parts.push_back(field_part(options.snapshots));
  }
  write_report(out, parts);
  write_out(invocation.out,
            fmt::format("{}: {} result file{}, {:.1f} MB; open it in a browser\n", out.string(),
                        options.results.size(), options.results.size() == 1 ? "" : "s",
                        static_cast<double>(fs::file_size(out)) / 1e6));
  return exit_ok;
}

} // namespace

Action declare_report(OptionList& options) {
  const auto typed = std::make_shared<ReportOptions>();
  options.files("RESULT FILE", typed->results, "result files (--json) of any of the commands");
  options.group("Output");
  options.text("--snapshots DIR", typed->snapshots,
               "the field of --snapshot-every as a film, from its .npy files");
  options.text("-o,--out FILE.html", typed->out, "the page");
  return [typed](const Invocation& invocation) { return run_report(*typed, invocation); };
}

} // namespace diffbench::bench
