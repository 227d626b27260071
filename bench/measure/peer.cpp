// SPDX-License-Identifier: Apache-2.0
#include "peer.hpp"

#include "build_info.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace diffbench::bench {

namespace {

constexpr std::string_view peer_mark = "peer:"; ///< before its name in tables and files

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Seconds = std::chrono::duration<double>;

struct PeerKind {
  std::string_view name;
  std::string_view module; ///< the file in bench/peers
  std::vector<std::string> imports;
  std::string_view how_to_get;
  DeviceKind device = DeviceKind::cpu;
  PeerTask task = PeerTask::diffusion;
  std::vector<std::string> environment = {}; ///< NAME=VALUE, added to what the child inherits
};

const std::vector<PeerKind>& peer_kinds() {
  using enum DeviceKind;
  using enum PeerTask;
  // glibc (mallopt(3)): never give the end of the heap back, and take large arrays from the heap,
  // too. Temporaries then reuse touched pages instead of paying page faults in every step.
  static const std::vector<std::string> keep_freed_memory = {"MALLOC_TRIM_THRESHOLD_=1099511627776",
                                                             "MALLOC_MMAP_MAX_=0"};
  constexpr std::string_view numpy = "apt-get install python3-numpy";
  constexpr std::string_view halide = "apt-get install python3-halide python3-numpy";
  constexpr std::string_view numba = "apt-get install python3-numba";
  constexpr std::string_view debian_torch = "apt-get install python3-torch";
  constexpr std::string_view torch = "pip install torch (Debian's is for the CPU)";
  static const std::vector<std::string> torch_modules = {"numpy", "torch"};
  static const std::vector<std::string> numba_modules = {"numpy", "numba"};
  constexpr std::string_view cupy = "pip install cupy-cuda13x (or that of your CUDA version)";
  static const std::vector<PeerKind> kinds = {
      {"numpy", "numpy_roll", {"numpy"}, numpy},
      {"numpy_pooled", "numpy_roll", {"numpy"}, numpy, cpu, diffusion, keep_freed_memory},
      {"numba", "numba_fused", numba_modules, numba},
      {"numba_parallel", "numba_parallel", numba_modules, numba},
      {"halide", "halide_tiles", {"numpy", "halide"}, halide, cpu, diffusion, keep_freed_memory},
      {"torch", "torch_roll", torch_modules, debian_torch},
      {"torch_cuda", "torch_cuda_roll", torch_modules, torch, cuda},
      {"torch_cuda_compile", "torch_cuda_compile", {"numpy", "torch", "triton"}, torch, cuda},
      {"torch_cuda_graph", "torch_cuda_graph", torch_modules, torch, cuda},
      {"cupy", "cupy_roll", {"numpy", "cupy"}, cupy, cuda},
      {"cupy_kernel", "cupy_kernel", {"numpy", "cupy"}, cupy, cuda},
      {"jax", "jax_jit", {"numpy", "jax"}, "pip install jax[cuda13]", cuda},
      {"torch", "torch_mlp", torch_modules, debian_torch, cpu, training},
      {"torch_cuda", "torch_cuda_mlp", torch_modules, torch, cuda, training},
      {"torch", "torch_train", torch_modules, debian_torch, cpu, epochs},
      {"torch_cuda", "torch_cuda_train", torch_modules, torch, cuda, epochs},
      {"torch", "torch_answers", torch_modules, debian_torch, cpu, answering},
      {"torch_cuda", "torch_cuda_answers", torch_modules, torch, cuda, answering},
  };
  return kinds;
}

const PeerKind& peer_kind(std::string_view name, PeerTask task) {
  const auto kind = std::ranges::find_if(
      peer_kinds(), [&](const PeerKind& each) { return each.name == name && each.task == task; });
  if (kind == peer_kinds().end()) {
    throw unknown_name("peer", name, peer_names(task));
  }
  return *kind;
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

// Where the scripts are: what the user says, the installed files, the source tree that we were
// built from.
std::vector<std::string> script_directories() {
  if (const auto chosen = environment("DIFFBENCH_PEERS")) {
    return {*chosen};
  }
  return {(program_path().parent_path().parent_path() / "share/diffbench/peers").string(),
          build_info::peers_directory};
}

/// The first of the directories that has `file`; nothing where none has.
std::optional<fs::path> directory_with(std::string_view file) {
  const std::vector<std::string> all = script_directories();
  const auto found = std::ranges::find_if(
      all, [&](const std::string& directory) { return fs::exists(fs::path(directory) / file); });
  return found == all.end() ? std::nullopt : std::optional<fs::path>(*found);
}

fs::path find_script(const PeerKind& kind) {
  if (const auto directory = directory_with(fmt::format("{}.py", kind.module))) {
    return *directory / "peer_protocol.py";
  }
  throw Unavailable(
      fmt::format("peer {}: no {}.py in {}; set DIFFBENCH_PEERS to the directory that has it",
                  kind.name, kind.module, fmt::join(script_directories(), " or ")));
}

// Of `modules` and of what peers import, what it would find. It does not import them: torch takes
// seconds. Nothing where there is no such program.
std::set<std::string> find_modules(const std::string& python, std::vector<std::string> modules) {
  constexpr const char* script =
      "import importlib.util as u, sys; print(*filter(u.find_spec, sys.argv[1:]))";
  for (const PeerKind& kind : peer_kinds()) {
    modules.insert(modules.end(), kind.imports.begin(), kind.imports.end());
  }
  std::vector<std::string> command = {python, "-c", script};
  std::ranges::copy(modules, std::back_inserter(command));
  std::string line;
  try {
    ChildProcess child(command);
    (void)child.read_line(line, Seconds(30));
  } catch (const Error&) {
  }
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

// A start of python takes as long as all else that `list` does, so each is asked once.
bool has_modules(const std::string& python, const std::vector<std::string>& modules) {
  static std::map<std::pair<std::string, std::string>, std::set<std::string>> known;
  const auto [place, is_new] = known.try_emplace({python, environment("PYTHONPATH").value_or("")});
  if (is_new) {
    place->second = find_modules(python, modules);
  }
  return std::ranges::all_of(modules, [&found = place->second](const std::string& module) {
    return found.contains(module);
  });
}

// The driver is asked, and not our own backends: a build without them has GPU peers all the same.
bool sees_cuda_device(const std::string& python) {
  constexpr const char* script = R"(
import ctypes, sys
cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
sys.exit(cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or not count.value)
)";
  static std::map<std::string, bool> known;
  const auto [place, is_new] = known.try_emplace(python);
  if (is_new) {
    place->second = ChildProcess({python, "-c", script}).wait(Seconds(30)) == 0;
  }
  return place->second;
}

// The python that PATH names may lack what Debian's has.
std::vector<std::string> pythons() {
  if (const auto chosen = environment("DIFFBENCH_PYTHON")) {
    return {*chosen};
  }
  return {"python3", "/usr/bin/python3"};
}

std::string find_python(const PeerKind& kind) {
  const std::vector<std::string> names = pythons();
  for (const std::string& python : names) {
    if (!has_modules(python, kind.imports)) {
      continue;
    }
    // Where the tests have it run on another device, it needs no GPU.
    if (kind.device == DeviceKind::cuda && !environment("DIFFBENCH_PEER_DEVICE") &&
        !sees_cuda_device(python)) {
      throw Unavailable(fmt::format(
          "peer {}: needs an NVIDIA GPU, and the driver shows none; see: nvidia-smi", kind.name));
    }
    return python;
  }
  throw Unavailable(fmt::format("peer {}: {} cannot import {}; get it with: {}", kind.name,
                                fmt::join(names, " and "), fmt::join(kind.imports, " and "),
                                kind.how_to_get));
}

// -B: leave no __pycache__ beside the scripts.
std::vector<std::string> peer_command(const PeerKind& kind) {
  const std::string script = find_script(kind).string();
  std::vector<std::string> command = {"env"};
  command.insert(command.end(), kind.environment.begin(), kind.environment.end());
  command.insert(command.end(), {find_python(kind), "-B", script, std::string(kind.module)});
  return command;
}

} // namespace

std::string peer_row_name(std::string_view peer) { return fmt::format("{}{}", peer_mark, peer); }
bool names_peer(std::string_view row) { return row.starts_with(peer_mark); }

std::optional<std::string> python_with(const std::vector<std::string>& modules) {
  for (const std::string& python : pythons()) {
    if (has_modules(python, modules)) {
      return python;
    }
  }
  return std::nullopt;
}

std::filesystem::path peer_script(std::string_view name) {
  if (const auto directory = directory_with(name)) {
    return *directory / name;
  }
  throw Unavailable(
      fmt::format("there is no {} in {}", name, fmt::join(script_directories(), " or ")));
}

std::vector<std::string> peer_names(PeerTask task) {
  return names_in(peer_kinds(), [&](const PeerKind& kind) { return kind.task == task; });
}

DeviceKind peer_device(std::string_view name, PeerTask task) {
  return peer_kind(name, task).device;
}

Probe probe_peer(std::string_view name, PeerTask task) {
  try {
    peer_command(peer_kind(name, task));
    return {};
  } catch (const Unavailable& missing) {
    return {.available = false, .reason = missing.what()};
  }
}

PeerJob diffusion_job(const Problem& problem, const fs::path& initial_npy) {
  return {.task = PeerTask::diffusion,
          .start = {{"initial", fs::absolute(initial_npy).string()},
                    {"boundary", to_string(problem.boundary)},
                    {"boundary_value", problem.boundary_value},
                    {"factor", problem.diffusion_number()}},
          // Some ten times what the slowest peer needs for a cell.
          .most_step_seconds = 100e-9 * static_cast<double>(problem.cells())};
}

void Peer::fail(std::string_view what) const {
  const std::string words = child_.last_words();
  throw Error(fmt::format("peer {}: {}{}{}", name_, what, words.empty() ? "" : ": ", words));
}

Json Peer::ask(const Json& request, std::int64_t steps) {
  const Seconds limit(120 + most_step_seconds_ * static_cast<double>(steps));
  // A path that is not UTF-8 cannot be said in JSON: the child will not find it, and say so.
  const std::string text = request.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string line;
  switch (child_.write_line(text) ? child_.read_line(line, limit, interrupted_)
                                  : ChildProcess::Outcome::closed) {
    case ChildProcess::Outcome::line: break;
    case ChildProcess::Outcome::closed: {
      const auto status = child_.wait(Seconds(1));
      fail(status ? fmt::format("python ended with status {}", *status)
                  : "python closed the connection");
    }
    case ChildProcess::Outcome::timeout:
      fail(fmt::format("no answer within {:.0f} s", limit.count()));
    case ChildProcess::Outcome::interrupted: fail("interrupted");
  }
  Json answer = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    fail(fmt::format("this is not an answer: {}", line.substr(0, 80)));
  }
  if (answer.contains("error")) {
    throw Error(fmt::format("peer {}: {}", name_, answer["error"].get<std::string>()));
  }
  return answer;
}

Peer::Peer(const std::string& name, const PeerJob& job, const SessionOptions& session,
           std::function<bool()> interrupted)
    : name_(name),
      resources_{{"threads", session.threads != 0 ? session.threads : usable_cpus()},
                 {"device", session.device}},
      interrupted_(std::move(interrupted)),
      child_(peer_command(peer_kind(name, job.task))) {
  start(job);
}

Peer::~Peer() {
  if (interrupted_ && interrupted_()) { // nobody waits for what the child is at
    child_.kill_now();
  }
}

void Peer::start(const PeerJob& job) {
  most_step_seconds_ = job.most_step_seconds;
  Json request = job.start;
  request.update(resources_);
  request["do"] = "start";
  const Json answer = ask(request, 1);
  setup_seconds_ = watch_.seconds();
  loads_ = answer.value("loads", false);
  provenance_ = {
      .threads = answer.at("threads").get<int>(),
      .device = answer.at("device").get<std::string>(),
      .details = answer.at("details").get<std::vector<std::pair<std::string, std::string>>>()};
}

void Peer::restart(const PeerJob& job) {
  watch_ = {};
  start(job);
}

void Peer::load(const fs::path& npy) {
  ask({{"do", "load"}, {"path", fs::absolute(npy).string()}}, 0);
}

void Peer::reset() { ask({{"do", "reset"}}, 0); }

double Peer::advance(std::int64_t steps) {
  const Json answer = ask({{"do", "advance"}, {"steps", steps}}, steps);
  page_faults_per_step_ = answer.at("page_faults").get<double>() / static_cast<double>(steps);
  return answer.at("seconds").get<double>();
}

PeerAnswers Peer::answer(const AnswerPlan& plan) {
  const Json answer = ask({{"do", "answer"},
                           {"warm_calls", plan.warm_calls},
                           {"warm_seconds", plan.warm_seconds},
                           {"count", plan.count},
                           {"most_seconds", plan.most_seconds}},
                          plan.warm_calls + plan.count);
  return {.seconds = answer.at("seconds").get<std::vector<double>>(),
          .clock_cost = answer.at("clock_cost").get<double>()};
}

void Peer::save(const fs::path& npy) {
  ask({{"do", "save"}, {"path", fs::absolute(npy).string()}}, 0);
}

Provenance Peer::provenance() const {
  Provenance provenance = provenance_;
  if (page_faults_per_step_) {
    provenance.details.emplace_back("page_faults_per_step",
                                    fmt::format("{:.1f}", *page_faults_per_step_));
  }
  return provenance;
}

std::int64_t Peer::peak_bytes() const {
  constexpr std::string_view key = "VmHWM:";
  std::ifstream status(fmt::format("/proc/{}/status", child_.pid()));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) {
      return std::strtoll(line.c_str() + key.size(), nullptr, 10) * 1024;
    }
  }
  return 0;
}

} // namespace diffbench::bench
