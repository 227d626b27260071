// SPDX-License-Identifier: Apache-2.0
#include "program_trial.hpp"

#include "columns.hpp"
#include "cuda/emulated_cuda.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"
#include "included_files.hpp"
#include "interrupt.hpp"
#include "table.hpp"
#include "tried_process.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <ranges>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

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

/// Remarks are last. Before them comes what another fault may be the cause of.
int lightness(const DeviceFinding& finding) {
  return !is_fault(finding)                                                     ? 2
         : finding.kind == "uninitialized" || finding.kind == "unchecked_error" ? 1
                                                                                : 0;
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

/// Of the last line.
void read_end(const Json& json, const std::optional<AssumedCard>& card, ProgramTrial& trial) {
  const Json& counts = json.at("counts");
  trial.by_itself = json.at("by_itself").get<bool>();
  trial.counts = value_of(counts);
  trial.kernels = launched_kernels(counts);
  if (card && json.at("steps").is_object()) {
    trial.asked = ask_for_card(trial.counts, value_of(json.at("steps")), trial.by_itself, *card);
  }
  if (json.at("copied").is_object()) {
    trial.copied = json.at("copied").get<std::map<std::string, std::uint64_t>>();
  }
  trial.uses_managed = counts.at("allocations").at("managed").at("calls") > 0;
  trial.uses_atomics = std::ranges::any_of(
      counts.at("kernels"), [](const Json& kernel) { return kernel.at("queued_atomics") > 0; });
}

/// What its process said of it, line by line; of the last line, what it asked the device for.
void read_noticed(const std::string& text, const std::optional<AssumedCard>& card,
                  ProgramTrial& trial) {
  std::istringstream lines(text);
  std::string findings;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view lacking = "lacking ";
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (line.starts_with(lacking)) {
      trial.unprotected = line.substr(lacking.size());
      continue;
    }
    try {
      if (json.is_object() && json.at("kind") == "end") {
        read_end(json, card, trial);
        continue;
      }
    } catch (const Json::exception&) { // the program itself has written there
    }
    findings += (findings.empty() ? "" : ",") + line;
  }
  for (const DeviceFinding& finding : device_findings("[" + findings + "]")) {
    add_finding(trial.findings, finding);
  }
}

/// Whether a file speaks of arguments.
bool takes_arguments(const TriedProgram& plan) {
  return std::ranges::any_of(plan.files, [](const fs::path& file) {
    return text_of_file(file).find("argv") != std::string::npos;
  });
}

/// Where no fault was found: what keeps that from being said.
std::string why_undecided(const ProgramTrial& trial, bool killed) {
  const std::string said =
      trial.printed.empty() ? ""
                            : "; it said: " + trial.printed.substr(trial.printed.rfind('\n') + 1);
  if (killed) {
    return "its time ended in the midst of a launch, which did not end";
  }
  if (trial.status != 0) {
    return in_words(trial.status) + said;
  }
  return !trial.kernels.empty() ? ""
         : !trial.by_itself     ? "its time ended before a kernel ran (--budget)" + said
                                : "no kernel ran: none was launched, or nobody waited for it "
                                  "(cudaDeviceSynchronize())" +
                                  said;
}

/// stdin for each run: a file from where it stands, which stays where the last one left it, or what
/// waits in a pipe whose writers have gone.
class Input {
 public:
  explicit Input(const fs::path& work_dir) : begin_(::lseek(STDIN_FILENO, 0, SEEK_CUR)) {
    pollfd waiting{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    int ends[2] = {};
    if (begin_ >= 0 || ::poll(&waiting, 1, 0) <= 0 || (waiting.revents & POLLHUP) == 0 ||
        ::pipe2(ends, O_CLOEXEC) != 0) {
      return;
    }
    const FileDescriptor from(ends[0]), to(ends[1]);
    std::string text(std::size_t{1} << 20, '\0'); // as much as a pipe may hold
    const ssize_t held = ::tee(STDIN_FILENO, to.get(), text.size(), SPLICE_F_NONBLOCK);
    const ssize_t bytes = held > 0 ? ::read(from.get(), text.data(), text.size()) : 0;
    if (bytes > 0) {
      copy_ = (work_dir / "input").string();
      std::ofstream(copy_, std::ios::binary).write(text.data(), bytes);
    }
  }
  /// File for the next run; empty: ours.
  [[nodiscard]] std::string rewound() const {
    if (begin_ >= 0) {
      ::lseek(STDIN_FILENO, begin_, SEEK_SET);
    }
    return copy_;
  }

 private:
  off_t begin_;
  std::string copy_;
};

/// Runs it, and fills in what is known then. Whether it had to be killed. Throws Interrupted.
/// `mode`: of diffbench_try_child.
bool run_once(const TriedProgram& plan, const TrialPlan& trial, const fs::path& library,
              const Input& input, const char* mode, ProgramTrial& tried) {
  const fs::path folder = fs::absolute(plan.files.front()).parent_path();
  const NoticedFile noticed;
  std::vector<std::string> command =
      confined_command({.memory_bytes = (trial.memory_mib << 20) + 4 * emulation_bytes},
                       printed_bytes, noticed.fd(), noticed.fd(), {folder, library.parent_path()});
  command.insert(command.end(), {"program", library.string(), fmt::format("{}", plan.seconds), mode,
                                 plan.files.front().stem().string()});
  command.insert(command.end(), plan.arguments.begin(), plan.arguments.end());
  const fs::path printed = library.parent_path() / "printed.txt";
  const FileDescriptor out(
      ::open(printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (out.get() < 0) {
    throw Error(fmt::format("cannot write {}", printed.string()));
  }
  Process process({.words = std::move(command),
                   .directory = folder.string(),
                   .input = plan.input.empty() ? input.rewound() : plan.input,
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
  tried.printed_sum = std::hash<std::string>()(text_of_file(printed));
  read_noticed(noticed.text(), trial.assumed, tried);
  return killed;
}

/// The line of a copy that gave the host something else; empty: none, in two whole runs.
std::optional<std::string> differing_copy(const ProgramTrial& first, const ProgramTrial& second) {
  if (!first.by_itself || !second.by_itself || first.status != second.status) {
    return std::nullopt;
  }
  for (const auto& [line, sum] : first.copied) {
    const auto other = second.copied.find(line);
    if (other == second.copied.end() || other->second != sum) {
      return line;
    }
  }
  return "";
}

/// With other values in fresh memory, or blocks in another order, where that may change what it
/// computes: is it the same? The host reads managed memory without a copy, so nothing is known
/// then.
void run_again(const TriedProgram& plan, const TrialPlan& trial, const fs::path& library,
               const Input& input, Progress& progress, ProgramTrial& tried) {
  const auto is_unwritten = [](const DeviceFinding& finding) {
    return finding.kind == "uninitialized";
  };
  const bool unwritten = std::ranges::any_of(tried.findings, is_unwritten);
  const bool orders =
      !unwritten && tried.uses_atomics && std::ranges::none_of(tried.findings, is_fault);
  if (!tried.by_itself || tried.uses_managed || tried.copied.empty() || !(unwritten || orders)) {
    return;
  }
  progress.stage("running it again, to see whether it is the same");
  const auto run = [&](const char* mode) {
    ProgramTrial again;
    TriedProgram rest = plan;
    rest.seconds = std::max(plan.seconds - tried.seconds, 0.1 * plan.seconds);
    run_once(rest, trial, library, input, mode, again);
    return again;
  };
  const char* const other = unwritten ? "again" : "backwards";
  const ProgramTrial again = run(other);
  const std::optional<std::string> differs = differing_copy(tried, again);
  if (unwritten && differs == "") {
    // What it prints may have times in it: does it change with the memory's values, and back?
    const bool printed = again.printed_sum != tried.printed_sum &&
                         run("first").printed_sum == tried.printed_sum &&
                         run(other).printed_sum == again.printed_sum;
    for (DeviceFinding& finding : tried.findings) {
      finding.affects_result &= printed || !is_unwritten(finding);
    }
  } else if (orders && differs.value_or("") != "" &&
             std::ranges::none_of(again.findings, is_fault)) { // backwards none may come to its end
    // Not by chance, the clock, or where its arrays lie? Then the same order gives the same again.
    std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // time() is another one
    check_interrupt();
    if (differing_copy(again, run(other)) == "") {
      tried.findings.push_back(
          {.kind = "order",
           .message = "this copy gives the host something else where blocks run in another order, "
                      "as they do on a card: sums of floats by atomics differ in their last "
                      "digits, and what is numbered by atomics has other numbers",
           .where = *differs,
           .affects_result = false});
    }
  }
}

constexpr Column<LaunchedKernel> kernel_columns[] = {
    {"kernel", "kernel", as_text, field<&LaunchedKernel::name>},
    {"launches", "launches", as_text, field<&LaunchedKernel::launches>},
    {"threads", "threads", as_text, field<&LaunchedKernel::threads>},
    {"watched", "watched", as_percent, field<&LaunchedKernel::watched>},
};

/// A line each, as compilers have them.
std::string findings_text(const std::vector<DeviceFinding>& findings) {
  std::string text;
  for (const DeviceFinding& finding : findings) {
    text +=
        fmt::format("{}{}{}: {}\n", finding.where, finding.where.empty() ? "" : ": ",
                    is_fault(finding) ? finding.kind : "remark, " + finding.kind, finding.message);
  }
  return text;
}

/// A line for each finding; one of a program without.
Value csv_rows(const Value& program) {
  const auto row = [&](const Value& finding) {
    Value line;
    for (const char* key : {"file", "verdict", "why"}) {
      line[key] = program.find(key);
    }
    for (const char* key : {"kind", "where", "other", "kernel", "block", "thread", "message"}) {
      line[key] = finding.find(key);
    }
    return line;
  };
  const Value::List& findings = program.find("findings").elements();
  return findings.empty() ? Value::list({row({})}) : Value::each(findings, row);
}

void add_pictures(LabReport& report, const ProgramTrial& trial) {
  const std::string said = fmt::format("{}: {}", trial.file, verdict_line(trial));
  if (!trial.findings.empty()) {
    report.pictures.push_back({.title = said + "; what was found, at its lines",
                               .figure = Figure::table,
                               .x = "where",
                               .y = "kind message",
                               .rows = "findings"});
  }
  report.pictures.push_back(
      {.title = trial.findings.empty() ? said + "; its kernels" : "Its kernels",
       .figure = Figure::table,
       .x = "kernel",
       .y = "launches threads watched",
       .rows = "kernels"});
}

} // namespace

std::string verdict_line(const ProgramTrial& trial) {
  return trial.verdict == ProgramVerdict::undecided
             ? fmt::format("{}: {}", to_string(trial.verdict), trial.why)
         : trial.verdict == ProgramVerdict::faults
             ? counted(std::ranges::count_if(trial.findings, is_fault), "fault")
             : std::string(to_string(trial.verdict));
}

ProgramTrial try_program(const TriedProgram& plan, const TrialPlan& trial, const fs::path& work_dir,
                         Progress& progress) {
  ProgramTrial tried;
  const fs::path file = fs::absolute(plan.files.front());
  tried.file = one_line(file.filename().string());
  for (const fs::path& each : plan.files) {
    if (!std::ifstream(each)) {
      throw InvalidInput(fmt::format("{} cannot be read", each.string()));
    }
  }
  if (trial.assumed) {
    AskedOfCard& asked = tried.asked.emplace();
    asked.card = *trial.assumed;
    asked.failure = "no launch was counted";
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
  const Input input(work_dir);
  const bool killed =
      run_once(plan, trial, compiled.library, input, trial.assumed ? "counted" : "first", tried);
  run_again(plan, trial, compiled.library, input, progress, tried);
  tried.unprotected = unprotected_from(tried.unprotected, /*was_compiled=*/true);
  if (plan.arguments.empty() && takes_arguments(plan)) {
    for (DeviceFinding& finding : tried.findings) { // what it does without them is not to be judged
      finding.affects_result &= finding.kind != "host_crash";
    }
  }
  std::ranges::stable_sort(tried.findings, {}, lightness);
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
    append_table(report, findings_text(trial.findings));
  }
  const std::string said = fmt::format("{}: {}", trial.file, verdict_line(trial));
  report.done = said + ".";
  if (trial.verdict != ProgramVerdict::no_fault) {
    report.outcome = {trial.verdict == ProgramVerdict::faults ? exit_not_verified : exit_error,
                      said};
  }
  if (!trial.by_itself && trial.status == 0) {
    report.notes.push_back(
        fmt::format("--budget ended it after {:.0f} s: what is said holds of what ran until then",
                    trial.seconds));
  }
  if (trial.status != 0 && trial.why.empty()) {
    report.notes.push_back(in_words(trial.status));
  }
  report.notes.emplace_back(
      "the GPU was emulated, so nothing is timed: the time between two events is NaN");
  if (!trial.unprotected.empty()) {
    report.notes.push_back(fmt::format("not kept from everything: {}", trial.unprotected));
  }
  report.data = {{"file", trial.file},
                 {"language", "CUDA"},
                 {"form", program_form},
                 {"command", trial.command},
                 {"verdict", to_string(trial.verdict)},
                 {"why", or_null(trial.why)},
                 {"status", trial.status},
                 {"by_itself", trial.by_itself},
                 {"findings", findings_json(trial.findings)},
                 {"kernels", list_of(kernel_columns, trial.kernels)},
                 {"counts", trial.counts},
                 {"printed", trial.printed}};
  report.rows = csv_rows(report.data);
  report.columns = heads_of(kernel_columns);
  add_pictures(report, trial);
  if (trial.asked) {
    append_asked(report, *trial.asked);
  }
  return report;
}

} // namespace diffbench::bench
