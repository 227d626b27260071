// SPDX-License-Identifier: Apache-2.0
// The state of the emulated runtime, and what every call of it goes through.
#pragma once

#include "emulation/control.hpp"
#include "findings.hpp"
#include "ledger.hpp"
#include "memory.hpp"
#include "random.hpp"
#include "work.hpp"

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace diffbench::emulation {

/// Operations recorded by a capture, each after the ones it names.
struct GraphNode {
  std::function<void()> run;
  std::vector<std::size_t> after;
};
using GraphNodes = std::vector<GraphNode>;

struct Capture {
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode{};
  std::thread::id thread = std::this_thread::get_id(); ///< that began it
  bool invalid = false;
  GraphNodes nodes;
};

/// A point in a capture: what is recorded next in the stream comes after these nodes.
struct CapturePoint {
  std::shared_ptr<Capture> capture; ///< null: not capturing
  std::vector<std::size_t> nodes;
};

struct Stream {
  std::int64_t made_by_call = 0; ///< 0: one of the runtime's own
  std::uint64_t made_at = 0;     ///< site, of a user's code
  int device = 0;
  bool blocking = true; ///< ordered with the legacy default stream
  OperationPtr last;
  CapturePoint capture;
};

struct Event {
  std::int64_t made_by_call = 0;
  std::uint64_t made_at = 0;
  bool timing = true;
  OperationPtr recorded;
  CapturePoint capture;
  // When it was recorded, of a program:
  const Stream* stream = nullptr;
  WorkMark mark;
};

struct Graph {
  std::int64_t made_by_call = 0;
  std::shared_ptr<const GraphNodes> nodes;
};

struct GraphExec {
  std::int64_t made_by_call = 0;
  std::shared_ptr<const GraphNodes> nodes;
  OperationPtr last_launch;
};

/// Something that a library on top of the runtime has made: a handle, a descriptor.
struct LibraryObject {
  std::string what;
  std::int64_t made_by_call = 0;
  std::any value;
};

struct Device {
  DeviceSpec spec;
  cudaError_t sticky = cudaSuccess;
  Stream legacy;
  Stream per_thread;
};

/// Memory of the host that work uses which has been issued.
struct HostUse {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool writes = false;
  std::uint64_t site = 0; ///< where the work was issued
  OperationPtr operation;
};

/// A call that failed, which nobody has asked about since.
struct UncheckedError {
  cudaError_t code = cudaSuccess;
  std::string call;
  CodeLine at;
};

/// A launch of a program.
struct Launched {
  const Stream* stream = nullptr; ///< may be gone
  bool blocking = true;           ///< its stream is ordered with the legacy default stream
  std::uint64_t site = 0;
  std::string kernel;
};

struct PlannedFault {
  std::int64_t in = 0; ///< 0: none
  cudaError_t code = cudaSuccess;
  /// Counts one; true when it is this one's turn.
  bool due() { return in > 0 && --in == 0; }
};

/// Of a user's code: launches are checked, and no kernel runs.
inline bool only_launches = false;

struct Runtime {
  explicit Runtime(const Settings& settings);

  bool driver = true;
  int old_driver = 0;
  std::int64_t shortest_matmul_side = 1;
  int float64_epilogue_status = 0;
  Random random;
  std::vector<Device> devices;
  int current_device = 0;
  Memory memory;
  WorkQueue work;
  std::map<cudaStream_t, Stream> streams;
  std::map<cudaEvent_t, Event> events;
  std::map<cudaGraph_t, Graph> graphs;
  std::map<cudaGraphExec_t, GraphExec> execs;
  std::map<const void*, LibraryObject> library_objects;
  /// By cudaFuncSetAttribute: of a kernel on a device.
  std::map<std::pair<int, const void*>, int> dynamic_shared_limits;
  std::set<std::pair<int, const void*>> large_clusters_allowed;
  std::vector<std::shared_ptr<Capture>> captures; ///< that have not ended

  Counters counters;
  PlannedFault call_fault;
  PlannedFault kernel_fault;
  std::string failed_call;
  bool call_fails = false; ///< the present call will return an error whatever it does
  cudaError_t last_error = cudaSuccess;
  std::vector<std::string> reports;
  const void* running_kernel = nullptr;
  bool trapped = false;                   ///< it has ended itself (__trap)
  std::vector<const void*> running_words; ///< its arguments
  // Of a user's code:
  std::vector<Finding> findings; ///< each of another kind or line
  std::vector<HostUse> host_uses;
  bool symbols_have_addresses = false; ///< somebody has asked for one
  bool broken_before =
      false; ///< the present call comes after a fault, from which all it meets follows
  std::int64_t solves = 0; ///< calls of a user's solve()
  UncheckedError unchecked;
  Ledger ledger;
  std::vector<Launched> launched;
  std::set<const Stream*> busy; ///< a program's streams with launches that nobody has waited for

  Device& device() { return devices[static_cast<std::size_t>(current_device)]; }
  Stream* find_stream(cudaStream_t handle);
  Event* find_event(cudaEvent_t handle);

  /// A handle that is never used again.
  template <typename Handle>
  Handle new_handle() {
    return reinterpret_cast<Handle>(next_handle_ += 16);
  }

  void report(const std::string& bug, FindingKind kind = FindingKind::misuse);
  void report(Finding finding);
  /// Writes a line of JSON to the file of findings.
  void note(const std::string& json);
  /// The host is going to touch this memory.
  void host_touches(const void* data, std::size_t bytes, bool writes, std::uint64_t site);
  void add_host_use(const HostUse& use);
  /// Whether what the host's code touches has to be looked at.
  void decide_host_watch();
  /// Marks `device_index` as broken by what ran on it.
  void fault(int device_index, cudaError_t code);

  /// Issues work in the stream's order, or records it when the stream is being captured. `run` may
  /// run more than once.
  cudaError_t issue(Stream& stream, std::function<void()> run);
  /// Frees all memory, streams and events of the program.
  void forget_resources();
  /// Runs a part of an operation, unless the device is broken, and reports the races in it.
  void run_on(int device_index, const std::function<void()>& run);
  /// Runs what must run for `operation` to be done. The host need not be after it.
  void run_until_done(const OperationPtr& operation);
  /// Waits; then what the device has to say.
  cudaError_t wait_for(const OperationPtr& operation);
  cudaError_t wait_for_all();
  /// Invalidates the captures that a call like the present one is not allowed in.
  [[nodiscard]] bool forbidden_by_capture();

 private:
  std::uintptr_t next_handle_ = 0x1000;
};

/// The one there is; made at the first use.
Runtime& runtime();
/// Counts a launch, or that of a graph.
void note_launch(Runtime& state, const Stream& stream, std::uint64_t site, const std::string& what);
/// Counts a wait for what `stream` had been given after so many launches.
void note_wait(Runtime& state, const Stream* stream, std::ptrdiff_t launches);
/// Looks at what a program times by these two.
void judge_events(Runtime& state, const Event& first, const Event& last);
/// What only its end tells: how often something was timed.
void judge_samples(Runtime& state);
/// Held by every call.
std::recursive_mutex& runtime_mutex();

/// What a call does when a planned fault meets it.
enum class WhenMadeToFail { nothing, its_work, drop_pending };

/// One call of the runtime: counted, made to fail when it is its turn, refused when there is no
/// driver or device, or when the device is broken.
cudaError_t call(const char* name, const std::function<cudaError_t(Runtime&)>& body,
                 WhenMadeToFail when = WhenMadeToFail::nothing);

/// For calls that give something back: they do so even on a broken device.
inline cudaError_t giving_back(const char* name, const std::function<cudaError_t(Runtime&)>& body) {
  return call(name, body, WhenMadeToFail::its_work);
}

/// For calls that wait. One that is made to fail loses the pending work, as one that fails does.
inline cudaError_t waiting(const char* name, const std::function<cudaError_t(Runtime&)>& body) {
  return call(name, body, WhenMadeToFail::drop_pending);
}

/// For calls on a stream that has to be there.
inline cudaError_t on_stream(const char* name, cudaStream_t handle,
                             const std::function<cudaError_t(Runtime&, Stream&)>& body,
                             WhenMadeToFail when = WhenMadeToFail::nothing) {
  return call(
      name,
      [&](Runtime& state) {
        Stream* const stream = state.find_stream(handle);
        return stream == nullptr ? cudaErrorInvalidResourceHandle : body(state, *stream);
      },
      when);
}

/// Findings are also written to this file as they come, a line each. From the environment.
inline constexpr const char* findings_fd_variable = "DIFFBENCH_TRY_FINDINGS_FD";

/// The words before reports from a kernel, while one runs.
std::string running_kernel_name();

} // namespace diffbench::emulation
