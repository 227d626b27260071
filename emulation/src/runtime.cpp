// SPDX-License-Identifier: Apache-2.0
#include "runtime.hpp"

#include "code_site.hpp"
#include "grid.hpp"
#include "host_watch.hpp"
#include "kernel_name.hpp"
#include "program.hpp"
#include "race_detector.hpp"
#include "segfault.hpp"
#include "user_image.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace diffbench::emulation {
namespace {

/// Read before any code of the user's runs.
const int findings_fd = [] {
  const char* const fd = std::getenv(findings_fd_variable);
  return fd == nullptr ? -1 : std::atoi(fd);
}();

std::unique_ptr<Runtime>& instance() {
  static auto& the_runtime = *new std::unique_ptr<Runtime>; // asked for at a program's end, too
  return the_runtime;
}

} // namespace

Runtime::Runtime(const Settings& settings)
    : driver(settings.driver),
      old_driver(settings.old_driver),
      shortest_matmul_side(settings.shortest_matmul_side),
      float64_epilogue_status(settings.float64_epilogue_status),
      random(settings.seed) {
  for (const DeviceVariables& variables : device_variables()) {
    memory.enlist_variables(variables.bytes, variables.kind);
  }
  for (const DeviceSpec& spec : settings.devices) {
    Device device;
    device.spec = spec;
    device.legacy.device = device.per_thread.device = static_cast<int>(devices.size());
    devices.push_back(std::move(device));
  }
}

std::recursive_mutex& runtime_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

Runtime& runtime() {
  if (instance() == nullptr) {
    install_segfault_handler();
    Settings settings;
    if (const char* seed = std::getenv("DIFFBENCH_EMULATION_SEED")) {
      settings.seed = std::strtoull(seed, nullptr, 10);
    }
    if (is_program()) { // as large as cards are
      settings.devices.front().multiprocessors = 132;
      settings.devices.front().memory_bytes = std::size_t{4} << 30;
    }
    instance() = std::make_unique<Runtime>(settings);
  }
  return *instance();
}

Stream* Runtime::find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return &device().legacy;
  }
  if (handle == cudaStreamPerThread) {
    return &device().per_thread;
  }
  const auto found = streams.find(handle);
  if (found == streams.end()) {
    report("a stream is used that was destroyed or never made");
    return nullptr;
  }
  return &found->second;
}

Event* Runtime::find_event(cudaEvent_t handle) {
  const auto found = events.find(handle);
  if (found == events.end()) {
    report("an event is used that was destroyed or never made");
    return nullptr;
  }
  return &found->second;
}

void Runtime::report(const std::string& bug, FindingKind kind) {
  report(Finding{.kind = kind, .message = bug});
}

void Runtime::report(Finding finding) {
  if (finding.by && finding.by->kernel.empty() && running_kernel != nullptr) {
    finding.by->kernel = kernel_name(running_kernel);
  }
  if (!has_user_code()) {
    reports.push_back(running_kernel_name() + finding.message);
    std::fprintf(stderr, "emulation: %s\n", reports.back().c_str());
    return;
  }
  if (broken_before) {
    return;
  }
  if (finding.at.line == 0) {
    finding.at = code_line_of(call_site());
  }
  constexpr std::size_t most_findings = 100;
  const bool known = std::any_of(findings.begin(), findings.end(), [&](const Finding& earlier) {
    return earlier.kind == finding.kind &&
           ((earlier.at == finding.at && earlier.other == finding.other) ||
            (earlier.at == finding.other && earlier.other == finding.at));
  });
  if (known || findings.size() >= most_findings) {
    return;
  }
  note(json_of(finding));
  findings.push_back(std::move(finding));
}

void Runtime::note(const std::string& json) {
  if (findings_fd >= 0) {
    const std::string line = json + "\n";
    static_cast<void>(::write(findings_fd, line.data(), line.size()) < 0);
  }
}

void Runtime::fault(int device_index, cudaError_t code) {
  devices[static_cast<std::size_t>(device_index)].sticky = code;
}

void Runtime::add_host_use(const HostUse& use) {
  std::erase_if(host_uses, [](const HostUse& earlier) { return earlier.operation->done(); });
  if (has_user_code()) {
    host_uses.push_back(use);
  }
  decide_host_watch();
}

void Runtime::decide_host_watch() {
  // Where managed memory is follows from who has touched it.
  watch_host(!host_uses.empty() || !device_variables().empty() ||
             (has_user_code() && memory.has_managed()));
}

void Runtime::host_touches(const void* data, std::size_t bytes, bool writes, std::uint64_t site) {
  race_detector().move_managed(data, bytes, /*to_device=*/false);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto verb = [writes] { return std::string("the host ") + (writes ? "writes" : "reads"); };
  if (is_variable_of_device_alone(data)) {
    report(
        Finding{.kind = FindingKind::host_touches_device,
                .message = verb() + " a variable of the device, which has another one of its own",
                .at = code_line_of(site)});
    return;
  }
  for (const HostUse& use : host_uses) {
    const bool overlaps = begin < use.begin + use.bytes && use.begin < begin + bytes;
    if (!overlaps || use.operation->done() || (!writes && !use.writes)) {
      continue;
    }
    report(Finding{.kind = FindingKind::early_read,
                   .message = verb() + " memory that the work issued at " + line_of(use.site) +
                              (use.writes ? " writes to" : " reads") +
                              ", and has not waited for that work",
                   .at = code_line_of(site),
                   .other = code_line_of(use.site)});
    const OperationPtr operation = use.operation;
    run_until_done(operation);
    return;
  }
}

void Runtime::forget_resources() {
  streams.clear();
  events.clear();
  graphs.clear();
  execs.clear();
  std::vector<std::byte*> held;
  for (const auto& [data, buffer] : memory.live()) {
    if (!buffer.mapping.empty()) {
      held.push_back(buffer.data);
    }
  }
  for (std::byte* const data : held) {
    memory.release(data);
  }
}

cudaError_t Runtime::issue(Stream& stream, std::function<void()> run) {
  const bool legacy = &stream == &devices[static_cast<std::size_t>(stream.device)].legacy;
  if (legacy && forbidden_by_capture()) {
    return cudaErrorStreamCaptureImplicit;
  }
  if (stream.capture.capture != nullptr) {
    Capture& capture = *stream.capture.capture;
    if (capture.invalid) {
      return cudaErrorStreamCaptureInvalidated;
    }
    capture.nodes.push_back({std::move(run), stream.capture.nodes});
    stream.capture.nodes = {capture.nodes.size() - 1};
    return cudaSuccess;
  }
  std::vector<OperationPtr> after{stream.last};
  Device& its_device = devices[static_cast<std::size_t>(stream.device)];
  if (legacy) {
    after.push_back(its_device.per_thread.last);
    for (const auto& [handle, other] : streams) {
      if (other.blocking && other.device == stream.device) {
        after.push_back(other.last);
      }
    }
  } else if (stream.blocking) {
    after.push_back(its_device.legacy.last);
  }
  const int index = stream.device;
  stream.last = work.add([this, index, run = std::move(run)] { run_on(index, run); }, after);
  return cudaSuccess;
}

void Runtime::run_on(int device_index, const std::function<void()>& run) {
  if (run && devices[static_cast<std::size_t>(device_index)].sticky == cudaSuccess) {
    run();
    for (Finding& race : race_detector().take_races()) {
      report(std::move(race));
    }
  }
}

void Runtime::run_until_done(const OperationPtr& operation) {
  if (operation != nullptr && !operation->done()) {
    const Memory::Access access(memory);
    work.run_until_done(*operation, random);
  }
}

cudaError_t Runtime::wait_for(const OperationPtr& operation) {
  run_until_done(operation);
  if (operation != nullptr) {
    race_detector().host_waits_for(operation->order);
  }
  return device().sticky;
}

cudaError_t Runtime::wait_for_all() {
  const Memory::Access access(memory);
  work.run_all(random);
  race_detector().host_waits_for_all();
  return device().sticky;
}

bool Runtime::forbidden_by_capture() {
  bool forbidden = false;
  for (const auto& capture : captures) {
    const bool of_this_thread = capture->thread == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeGlobal ||
        (capture->mode == cudaStreamCaptureModeThreadLocal && of_this_thread)) {
      capture->invalid = true;
      forbidden = true;
    }
  }
  return forbidden;
}

cudaError_t call(const char* name, const std::function<cudaError_t(Runtime&)>& body,
                 WhenMadeToFail when) {
  const std::lock_guard lock(runtime_mutex());
  Runtime& state = runtime();
  ++state.counters.calls;
  state.ledger.done.printed = is_program() ? std::ftell(stdout) : 0; // which is a file
  cudaError_t result = cudaSuccess;
  if (!state.driver || state.old_driver != 0) {
    result = cudaErrorInsufficientDriver;
  } else if (state.devices.empty()) {
    result = cudaErrorNoDevice;
  }
  if (result != cudaSuccess) {
    return state.last_error = result;
  }
  const cudaError_t broken = state.device().sticky;
  if (state.call_fault.due()) {
    state.failed_call = name;
    result = state.call_fault.code;
    if (when == WhenMadeToFail::drop_pending) {
      state.work.drop_all();
    }
  } else {
    result = broken;
  }
  state.call_fails = result != cudaSuccess;
  if (result == cudaSuccess || when == WhenMadeToFail::its_work) {
    const bool outer = std::exchange(state.broken_before, broken != cudaSuccess);
    const cudaError_t own = body(state);
    state.broken_before = outer;
    result = result == cudaSuccess ? own : result;
  }
  if (result != cudaSuccess && result != cudaErrorNotReady) {
    state.last_error = result;
    // A broken device is reported where it broke.
    // That there is one device only is no fault of a program.
    const bool by_program = !is_program() || result != cudaErrorInvalidDevice;
    if (has_user_code() && by_program && state.unchecked.code == cudaSuccess &&
        broken == cudaSuccess && state.device().sticky == cudaSuccess) {
      state.unchecked = {result, name, code_line_of(call_site())};
    }
  }
  return result;
}

std::string running_kernel_name() {
  const void* const kernel = runtime().running_kernel;
  return kernel == nullptr ? std::string() : "kernel " + kernel_name(kernel) + ": ";
}

// The control interface

void reset(const Settings& settings) {
  const std::lock_guard lock(runtime_mutex());
  install_segfault_handler();
  reset_race_detector();
  instance() = std::make_unique<Runtime>(settings);
  runtime().decide_host_watch();
}

void set_seed(std::uint64_t seed) { runtime().random = Random(seed); }
void fail_call(std::int64_t k, cudaError_t code) { runtime().call_fault = {k, code}; }
void fail_kernel(std::int64_t k, cudaError_t code) { runtime().kernel_fault = {k, code}; }
void clear_faults() { runtime().call_fault = runtime().kernel_fault = {}; }
std::string failed_call() { return runtime().failed_call; }
Counters counters() {
  Counters counted = runtime().counters;
  counted.accesses = race_detector().accesses();
  return counted;
}
std::int64_t pending_operations() { return runtime().work.pending(); }
std::vector<std::string> take_reports() { return std::exchange(runtime().reports, {}); }

std::vector<std::string> live_resources() {
  std::vector<std::string> lines;
  for (const auto& [data, buffer] : runtime().memory.live()) {
    lines.push_back(buffer.description());
  }
  const auto add = [&lines](const char* what, const auto& made) {
    for (const auto& [handle, resource] : made) {
      lines.push_back(std::string(what) + ", made by call " +
                      std::to_string(resource.made_by_call));
    }
  };
  add("stream", runtime().streams);
  add("event", runtime().events);
  add("graph", runtime().graphs);
  add("instantiated graph", runtime().execs);
  for (const auto& [handle, object] : runtime().library_objects) {
    lines.push_back(object.what + ", made by call " + std::to_string(object.made_by_call));
  }
  return lines;
}

} // namespace diffbench::emulation
