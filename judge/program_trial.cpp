// SPDX-License-Identifier: Apache-2.0
#include "program_trial.hpp"

#include "columns.hpp"
#include "cuda/emulated_cuda.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "host_compiler.hpp"
#include "interrupt.hpp"
#include "table.hpp"
#include "tried_process.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ranges>
#include <sstream>

#include <fcntl.h>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t printed_bytes = std::int64_t{64} << 20; ///< and written, at most
constexpr double grace_seconds = 10; ///< after its time: for a launch that does not end

/// The last lines of what it printed.
std::string last_lines(const fs::path& file, std::size_t count) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(one_line(line));
    if (lines.size() > count) {
      lines.erase(lines.begin());
    }
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// The worst first.
void sort_by_weight(std::vector<DeviceFinding>& findings) {
  std::ranges::stable_sort(findings, [](const DeviceFinding& a, const DeviceFinding& b) {
    return is_fault(a) && !is_fault(b);
  });
}

std::vector<LaunchedKernel> launched_kernels(const Json& counts) {
  std::vector<LaunchedKernel> kernels;
  for (const Json& each : counts.value("kernels", Json::array())) {
    const auto threads = each.at("threads").get<std::int64_t>();
    kernels.push_back({.name = each.at("name").get<std::string>(),
                       .launches = each.at("launches").get<std::int64_t>(),
                       .threads = threads,
                       .watched = threads == 0 ? 0
                                               : each.at("watched_threads").get<double>() /
                                                     static_cast<double>(threads)});
  }
  return kernels;
}

/// What its process said of it, line by line; of the last line, what it asked the device for.
void read_noticed(const std::string& text, ProgramTrial& trial) {
  std::istringstream lines(text);
  std::string findings;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view lacking = "lacking ";
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (line.starts_with(lacking)) {
      trial.unprotected = line.substr(lacking.size());
    } else if (json.is_object() && json.value("kind", "") == "end") {
      trial.by_itself = json.value("by_itself", false);
      trial.counts = value_of(json.at("counts"));
      trial.kernels = launched_kernels(json.at("counts"));
    } else {
      findings += (findings.empty() ? "" : ",") + line;
    }
  }
  for (const DeviceFinding& finding : device_findings("[" + findings + "]")) {
    add_finding(trial.findings, finding);
  }
  sort_by_weight(trial.findings);
}

/// Whether a file speaks of arguments.
bool takes_arguments(const ProgramPlan& plan) {
  return std::ranges::any_of(plan.files, [](const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    return text.find("argv") != std::string::npos;
  });
}

/// Where no fault was found: what keeps that from being said.
std::string why_undecided(const ProgramTrial& trial, bool killed) {
  const std::string said =
      trial.printed.empty() ? ""
                            : "; it said: " + trial.printed.substr(trial.printed.rfind('\n') + 1);
  if (killed) {
    return fmt::format("it was ended {:g} s after its time, in the midst of a launch",
                       2 * grace_seconds);
  }
  if (trial.status != 0) {
    return in_words(trial.status) + said;
  }
  return trial.kernels.empty() ? "no kernel ran" + said : "";
}

constexpr Column<LaunchedKernel> kernel_columns[] = {
    {"kernel", "kernel", as_text, field<&LaunchedKernel::name>},
    {"launches", "launches", as_text, field<&LaunchedKernel::launches>},
    {"threads", "threads", as_text, field<&LaunchedKernel::threads>},
    {"watched", "watched", as_percent, field<&LaunchedKernel::watched>},
};

} // namespace

ProgramTrial try_program(const ProgramPlan& plan, const TrialPlan& trial, const fs::path& work_dir,
                         Progress& progress) {
  ProgramTrial tried;
  const fs::path file = fs::absolute(plan.files.front());
  tried.file = one_line(file.filename().string());
  for (const fs::path& each : plan.files) {
    if (!std::ifstream(each)) {
      throw InvalidInput(fmt::format("{} cannot be read", each.string()));
    }
  }
  let_others_read(work_dir);
  progress.stage("compiling");
  const auto compile = [&] {
    return compile_emulated_program(plan.files, work_dir, trial.compiler);
  };
  CompiledSubmission compiled;
  try {
    compiled = compile();
  } catch (const Doubtful&) {
    try_right_file(Language::cuda, trial);
    compiled = compile();
  }
  let_others_read(compiled.library);
  tried.command = compiled.command;

  progress.stage("running");
  const NoticedFile noticed;
  std::vector<std::string> command =
      confined_command({.memory_bytes = (trial.memory_mib << 20) + 4 * emulation_bytes},
                       printed_bytes, noticed.fd(), noticed.fd(), {file.parent_path(), work_dir});
  command.insert(command.end(), {"program", compiled.library.string(),
                                 fmt::format("{}", plan.seconds), file.stem().string()});
  command.insert(command.end(), plan.arguments.begin(), plan.arguments.end());
  const fs::path printed = work_dir / "printed.txt";
  const FileDescriptor out(
      ::open(printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (out.get() < 0) {
    throw Error(fmt::format("cannot write {}", printed.string()));
  }
  Process process({.words = std::move(command),
                   .directory = file.parent_path().string(),
                   .out = out.get(),
                   .err = out.get()});
  // Twice: a machine that has been stopped goes on where it was.
  const auto& end = process.wait(plan.seconds + grace_seconds, interrupted)
                        ? process.wait(0)
                        : process.wait(grace_seconds, interrupted);
  const bool killed = !end;
  tried.seconds = process.seconds();
  if (killed) {
    process.kill_now();
    check_interrupt();
  }
  tried.status = end ? end->status : 0;
  tried.printed = last_lines(printed, 3);
  read_noticed(noticed.text(), tried);
  tried.unprotected = unprotected_from(tried.unprotected, /*was_compiled=*/true);
  if (plan.arguments.empty() && takes_arguments(plan)) {
    for (DeviceFinding& finding : tried.findings) { // what it does without them is not to be judged
      finding.affects_result &= finding.kind != "host_crash";
    }
  }
  tried.why = why_undecided(tried, killed);
  if (!tried.why.empty() && plan.arguments.empty() && takes_arguments(plan)) {
    tried.why += " (its arguments come after --)";
  }
  tried.verdict = std::ranges::any_of(tried.findings, is_fault) ? ProgramVerdict::faults
                  : tried.why.empty()                           ? ProgramVerdict::no_fault
                                                                : ProgramVerdict::undecided;
  return tried;
}

LabReport program_report(const ProgramTrial& trial) {
  LabReport report;
  report.text = fmt::format("{}: CUDA, a whole program; {}\n", trial.file, trial.command);
  if (!trial.kernels.empty()) {
    append_table(report, format_rows(kernel_columns, trial.kernels));
  }
  if (!trial.findings.empty()) {
    append_table(report, "\non an emulated device:\n" + format_findings(trial.findings));
  }
  const auto faults = std::ranges::count_if(trial.findings, is_fault);
  const std::string line = trial.verdict == ProgramVerdict::undecided
                               ? fmt::format("{}: {}", to_string(trial.verdict), trial.why)
                           : trial.verdict == ProgramVerdict::faults
                               ? counted(faults, "fault")
                               : std::string(to_string(trial.verdict));
  report.done =
      trial.verdict == ProgramVerdict::no_fault ? fmt::format("{}: {}.", trial.file, line) : "";
  if (trial.verdict != ProgramVerdict::no_fault) {
    report.outcome = {trial.verdict == ProgramVerdict::faults ? exit_not_verified : exit_error,
                      fmt::format("{}: {}", trial.file, line)};
  }
  if (!trial.by_itself && trial.status == 0) {
    report.notes.push_back(
        fmt::format("--budget ended it after {:.0f} s: what is said holds of what ran until then",
                    trial.seconds));
  }
  if (trial.status != 0 && trial.why.empty()) {
    report.notes.push_back(in_words(trial.status));
  }
  report.notes.emplace_back("the GPU was emulated, so nothing is timed");
  if (!trial.unprotected.empty()) {
    report.notes.push_back(fmt::format("not kept from everything: {}", trial.unprotected));
  }
  report.data = {{"file", trial.file},
                 {"language", "CUDA"},
                 {"form", "program"},
                 {"command", trial.command},
                 {"verdict", to_string(trial.verdict)},
                 {"why", or_null(trial.why)},
                 {"status", trial.status},
                 {"by_itself", trial.by_itself},
                 {"findings", findings_json(trial.findings)},
                 {"kernels", list_of(kernel_columns, trial.kernels)},
                 {"counts", trial.counts},
                 {"printed", trial.printed}};
  return report;
}

} // namespace diffbench::bench
