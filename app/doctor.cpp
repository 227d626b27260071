// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include "assumed_card.hpp"
#include "child_process.hpp"
#include "columns.hpp"
#include "compare/beside_load.hpp"
#include "compare/selftest_trials.hpp"
#include "context.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/shared_library.hpp"
#include "least_effect.hpp"
#include "peer.hpp"
#include "ratio.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct Finding {
  std::string section, name, value;
};

constexpr Column<Finding> finding_columns[] = {
    {"section", nullptr, as_text, field<&Finding::section>},
    {"name", nullptr, as_text, field<&Finding::name, or_null>},
    {"value", nullptr, as_text, field<&Finding::value>},
};

// Sections of rows, and what there is to mend, which comes last.
class Report {
 public:
  void section(std::string title) { section_ = std::move(title); }
  void row(std::string name, std::string value) {
    findings_.push_back({section_, std::move(name), std::move(value)});
  }
  void advise(std::string advice) { advice_.push_back({"mend", "", std::move(advice)}); }

  [[nodiscard]] std::string text() const {
    std::string text;
    const std::string* section = nullptr;
    for (const Finding& finding : findings_) {
      if (section == nullptr || *section != finding.section) {
        text += finding.section + "\n";
      }
      section = &finding.section;
      text += fmt::format("  {:<20}{}\n", finding.name, finding.value);
    }
    text += advice_.empty() ? "What to fix\n  nothing\n" : "What to fix\n";
    for (const Finding& advice : advice_) {
      text += fmt::format("  - {}\n", advice.value);
    }
    return text;
  }
  [[nodiscard]] Value rows() const {
    std::vector<Finding> all = findings_;
    all.insert(all.end(), advice_.begin(), advice_.end());
    return list_of(finding_columns, all);
  }

 private:
  std::string section_;
  std::vector<Finding> findings_, advice_;
};

constexpr Isa compiled_isa() {
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
  return Isa::avx512;
#elif defined(__AVX2__) && defined(__FMA__)
  return Isa::avx2;
#else
  return Isa::baseline;
#endif
}

void add_program(Report& report, const std::map<std::string, std::string>& facts) {
  const std::string& build_type = facts.at("build_type");
  const std::string& flags = facts.at("flags");
  report.section("Program");
  report.row("version",
             fmt::format("{}, commit {}", facts.at("diffbench_version"), facts.at("git_sha")));
  report.row("compiler", fmt::format("{}, {}", facts.at("compiler"), build_type));
  report.row("flags", flags);
  const char* mismatch = build_cpu_mismatch();
  report.row("compiled for", fmt::format("{} ({}): {}", facts.at("arch"), to_string(compiled_isa()),
                                         mismatch != nullptr ? mismatch : "fits this CPU"));
  if (build_type != "Release") {
    report.advise(
        fmt::format("this is a {} build, so its times mean little: configure with "
                    "-DCMAKE_BUILD_TYPE=Release",
                    build_type));
  }
  if (flags.find("-fsanitize") != std::string::npos) {
    report.advise(
        "sanitizers are built in, so its times mean nothing: configure with -DDIFFBENCH_SANITIZE=");
  }
  if (compiled_isa() < best_isa()) {
    report.advise(
        fmt::format("this CPU has {}, the build uses {} (the simd backend chooses by "
                    "itself): configure with -DDIFFBENCH_ARCH=native",
                    to_string(best_isa()), to_string(compiled_isa())));
  }
}

// Counts the CPUs of a list such as "0-3,8,10-11".
int count_cpus(const std::string& list) {
  int count = 0;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const int first = std::atoi(range.c_str());
    count += dash == std::string::npos ? 1 : std::atoi(range.c_str() + dash + 1) - first + 1;
  }
  return count;
}

// Whether the clock may rise above its nominal rate: acpi-cpufreq and intel_pstate say it apart.
std::string_view boost(const fs::path& root) {
  const std::string on = system_value(root, "sys/devices/system/cpu/cpufreq/boost");
  const std::string off = system_value(root, "sys/devices/system/cpu/intel_pstate/no_turbo");
  if (on == "1" || off == "0") {
    return "on";
  }
  return on == "0" || off == "1" ? "off" : "unknown";
}

/// What others do with the CPUs now; a moment shows it, in which this program does nothing.
void add_load(Report& report, const fs::path& root, const LoadWatch::Source& cpus) {
  const std::string averages = system_value(root, "proc/loadavg");
  const std::string load = averages.substr(0, averages.find(' '));
  const LoadWatch watch(cpus);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::optional<double> others = watch.others();
  const int usable = usable_cpus(root);
  report.row("load", fmt::format("{}{}", load,
                                 others ? fmt::format("; other programs use {:.1f} of {} CPUs now",
                                                      *others, usable)
                                        : ""));
  if (others && disturbs(*others, usable)) {
    report.advise(
        fmt::format("load {} on {} CPU{}: other programs use {:.1f} of them now, so times would "
                    "be too long; wait",
                    load, usable, usable == 1 ? "" : "s", *others));
  }
}

void add_processor(Report& report, const std::map<std::string, std::string>& facts,
                   const fs::path& root) {
  report.section("Processor");
  report.row("model", facts.at("cpu_model"));
  report.row("best ISA", facts.at("isa"));
  report.row("caches", fmt::format("L1d {}, L2 {}, L3 {}", facts.at("cache_l1d"),
                                   facts.at("cache_l2"), facts.at("cache_l3")));
  const std::string online = system_value(root, "sys/devices/system/cpu/online");
  const int usable = usable_cpus(root);
  if (online == "unknown") {
    report.row("CPUs", fmt::format("{} usable", usable));
  } else {
    const int machine = count_cpus(online);
    report.row("CPUs", fmt::format("{} usable of {}{}", usable, machine,
                                   usable < machine ? " (affinity mask or cgroup quota)" : ""));
  }
  const std::string& governor = facts.at("governor");
  report.row("clock", fmt::format("governor {}, boost {}", governor, boost(root)));
  if (governor != "performance" && governor != "unknown") {
    report.advise(
        fmt::format("governor {} lets the clock follow the load: cpupower "
                    "frequency-set -g performance",
                    governor));
  }
}

void add_memory(Report& report, const std::map<std::string, std::string>& facts,
                const fs::path& root) {
  constexpr std::string_view pages = "sys/kernel/mm/transparent_hugepage/enabled";
  report.section("Memory");
  // The first line of meminfo is "MemTotal:       16384 kB".
  const std::string total = system_value(root, "proc/meminfo");
  const std::size_t digits = std::min(total.find_first_of("0123456789"), total.size());
  report.row("total", total.starts_with("MemTotal:")
                          ? format_bytes(std::atoll(total.c_str() + digits) * 1024)
                          : "unknown");
  report.row("available", facts.at("memory_available"));
  const std::string huge_pages = system_value(root, pages);
  report.row("huge pages", huge_pages);
  if (huge_pages.find("[never]") != std::string::npos) {
    report.advise(
        fmt::format("huge pages are off, so large fields are slower: echo madvise > /{}", pages));
  }
}

// Asks the driver's library, loaded only here, for the first device. Its functions and their
// parameters are those of the CUDA Driver API's manual; cuInit makes no context.
std::string cuda_devices() {
  const SharedLibrary library("libcuda.so.1");
  if (!library.loaded()) {
    return "none (no libcuda.so.1)";
  }
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*count_devices)(int*) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  if (!library.find("cuInit", init) || !library.find("cuDriverGetVersion", driver_version) ||
      !library.find("cuDeviceGetCount", count_devices) ||
      !library.find("cuDeviceGetName", device_name)) {
    return "none (libcuda.so.1 lacks functions)";
  }
  int count = 0;
  if (const int error = init(0); error != 0 || count_devices(&count) != 0 || count == 0) {
    return fmt::format("none (cuInit: error {})", error);
  }
  int version = 0;
  std::array<char, 100> name{};
  driver_version(&version);
  device_name(name.data(), static_cast<int>(name.size()) - 1, 0);
  return fmt::format("{} x {}, CUDA up to {}.{}", count, name.data(), version / 1000,
                     version % 1000 / 10);
}

/// Of the build's CUDA backends, where it has some.
bool no_gpu_for_backends() {
  const auto backend = std::ranges::find(all_backends(), DeviceKind::cuda, &BackendInfo::device);
  return backend != all_backends().end() && backend->probe(0).why == Absent::no_gpu;
}

std::string find_nvcc() {
  const char* path = std::getenv("PATH");
  std::istringstream directories(fmt::format("{}:/usr/local/cuda/bin", path ? path : ""));
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::error_code ignored;
    if (fs::is_regular_file(fs::path(directory) / "nvcc", ignored)) {
      const std::string nvcc = directory + "/nvcc";
      ChildProcess asked({nvcc, "--version"});
      for (std::string line;
           asked.read_line(line, std::chrono::seconds(5)) == ChildProcess::Outcome::line;) {
        if (const std::size_t at = line.find("release "); at != std::string::npos) {
          return fmt::format("{}, {}", nvcc, line.substr(at));
        }
      }
      return nvcc;
    }
  }
  return "none (no nvcc in PATH or /usr/local/cuda)";
}

void add_cuda(Report& report, const std::map<std::string, std::string>& facts,
              const fs::path& root) {
  const std::string driver = system_value(root, "proc/driver/nvidia/version");
  const std::string devices = cuda_devices();
  report.section("CUDA");
  report.row("backends", facts.at("cuda"));
  if (driver != "unknown" || !devices.starts_with("none") || !no_gpu_for_backends()) {
    report.row("driver", driver == "unknown" ? "none" : driver);
    report.row("devices", devices);
  }
  const std::string nvcc = find_nvcc();
  report.row("toolkit", nvcc);
  const std::string_view how = how_to_get_gpu_backends();
  if (!how.empty() && (driver != "unknown" || nvcc.starts_with('/'))) {
    report.advise(fmt::format("no GPU backends in this build: {}", how));
  }
  report.row("assumed cards", fmt::format("{} (--assume)", fmt::join(assumed_card_names(), ", ")));
}

/// What the self-test has found, beside what is promised.
void add_verdicts(Report& report) {
  report.section("Verdicts on identical code");
  for (const std::string& name : load_names()) {
    const std::string load = load_text(name);
    if (const auto found = LineCache::standard("verdicts").find(key_beside(load))) {
      report.row("beside " + load, *found);
    }
  }
  const auto kept = kept_identical_code();
  if (!kept) {
    report.row("not measured", "diffbench selftest");
    return;
  }
  report.row("rows of a run", fmt::format("{} of {} wrong, {:g} % promised", kept->wrong,
                                          kept->trials, 100 * (1 - ratio_confidence)));
  if (kept->too_many()) {
    report.advise(
        "identical code gets verdicts here: find out what is restless, then diffbench "
        "selftest again");
  }
}

void add_peers(Report& report) {
  report.section("Peers");
  const bool no_gpu = cuda_devices().starts_with("none");
  const std::vector<std::string> names = peer_names();
  std::ptrdiff_t available = 0;
  for (const std::string& name : names) {
    const Probe probe = probe_peer(name);
    available += probe.available ? 1 : 0;
    const bool for_gpu = peer_device(name, PeerTask::diffusion) == DeviceKind::cuda;
    if (!probe.available && !(for_gpu && no_gpu)) { // no wheels for a card that is not here
      report.advise(probe.reason);
    }
  }
  report.row("available", fmt::format("{} of {} (diffbench list)", available, names.size()));
}

// What the fair CPU baseline reaches of what this core could do; empty where it is not built.
std::string core_bound_of_simd() {
  const std::vector<BackendInfo>& backends = all_backends();
  const auto simd = std::ranges::find(backends, "simd", &BackendInfo::name);
  if (simd == backends.end() || !simd->make_float32) {
    return {};
  }
  const Problem lesson{.nx = 640, .ny = 640};
  return simd->make_float32(lesson, {.threads = 1})->provenance().in_core;
}

// Whether the default run has something to run.
bool add_backends(Report& report) {
  const std::vector<BackendInfo>& backends = all_backends();
  const auto available = std::ranges::count_if(
      backends, [](const BackendInfo& backend) { return backend.probe(0).available; });
  report.section("Backends");
  report.row("available", fmt::format("{} of {} (diffbench list)", available,
                                      backends.size() + missing_backends().size()));
  if (const std::string bound = core_bound_of_simd(); !bound.empty()) {
    report.row("simd, float32", bound);
  }
  if (available == 0) {
    report.advise("no backend can run: configure without -DDIFFBENCH_WITHOUT");
  }
  return available > 0;
}

} // namespace

LabReport doctor_report(const fs::path& root, const LoadWatch::Source& cpus) {
  const Facts context = run_context(root);
  const std::map<std::string, std::string> facts(context.begin(), context.end());
  Report report;
  add_program(report, facts);
  add_processor(report, facts, root);
  add_load(report, root, cpus);
  add_memory(report, facts, root);
  const bool runnable = add_backends(report);
  add_cuda(report, facts, root);
  add_verdicts(report);
  add_peers(report);
  LabReport result;
  result.text = report.text();
  result.data = report.rows();
  result.rows = result.data;
  result.outcome.exit_code = runnable ? exit_ok : exit_error;
  return result;
}

} // namespace diffbench::bench
