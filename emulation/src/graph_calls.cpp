// SPDX-License-Identifier: Apache-2.0
// The runtime's calls on stream capture and graphs.
#include "runtime.hpp"
#include "user_image.hpp"

#include <algorithm>

using namespace diffbench::emulation;

namespace {

// Do all nodes come before `end`, or belong to it?
bool joined(const GraphNodes& nodes, const std::vector<std::size_t>& end) {
  std::vector<bool> seen(nodes.size());
  std::vector<std::size_t> open = end;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (!seen[node]) {
      seen[node] = true;
      open.insert(open.end(), nodes[node].after.begin(), nodes[node].after.end());
    }
  }
  return std::find(seen.begin(), seen.end(), false) == seen.end();
}

// All streams and events leave `capture`.
void end_capture(Runtime& state, const std::shared_ptr<Capture>& capture) {
  const auto leave = [&capture](CapturePoint& point) {
    if (point.capture == capture) {
      point = {};
    }
  };
  for (auto& [handle, stream] : state.streams) {
    leave(stream.capture);
  }
  for (auto& [handle, event] : state.events) {
    leave(event.capture);
  }
  for (auto& device : state.devices) {
    leave(device.per_thread.capture);
  }
  std::erase(state.captures, capture);
}

cudaError_t launch_graph(Runtime& state, GraphExec& exec, Stream& stream) {
  if (stream.capture.capture != nullptr) {
    return cudaErrorNotSupported; // graphs as nodes of graphs: nobody here needs them
  }
  // A launch waits for the one before it, wherever that one went (CUDA Runtime API,
  // cudaGraphLaunch).
  const cudaError_t issued = state.issue(stream, {});
  if (issued != cudaSuccess) {
    return issued;
  }
  note_launch(state, stream, call_site(), "a graph");
  const OperationPtr head = state.work.add({}, {stream.last, exec.last_launch});
  std::vector<OperationPtr> operations;
  for (const GraphNode& node : *exec.nodes) {
    std::vector<OperationPtr> after{head};
    for (const std::size_t earlier : node.after) {
      after.push_back(operations[earlier]);
    }
    const int device = stream.device;
    operations.push_back(state.work.add(
        [&state, device, nodes = exec.nodes, &node] { state.run_on(device, node.run); }, after));
  }
  operations.push_back(head);
  stream.last = exec.last_launch = state.work.add({}, operations);
  return cudaSuccess;
}

} // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return on_stream("cudaStreamBeginCapture", stream, [=](Runtime& state, Stream& found) {
    if (&found == &state.device().legacy) {
      return cudaErrorStreamCaptureUnsupported;
    }
    if (found.capture.capture != nullptr) {
      return cudaErrorIllegalState;
    }
    auto capture = std::make_shared<Capture>();
    capture->origin = stream;
    capture->mode = mode;
    found.capture = {capture, {}};
    state.captures.push_back(std::move(capture));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return giving_back("cudaStreamEndCapture", [=](Runtime& state) {
    *graph = nullptr;
    Stream* found = state.find_stream(stream);
    if (found == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    const CapturePoint end = found->capture;
    if (end.capture == nullptr) {
      return cudaErrorIllegalState;
    }
    if (end.capture->origin != stream) {
      return cudaErrorStreamCaptureUnmatched;
    }
    end_capture(state, end.capture);
    if (end.capture->invalid) {
      return cudaErrorStreamCaptureInvalidated;
    }
    if (!joined(end.capture->nodes, end.nodes)) {
      return cudaErrorStreamCaptureUnjoined;
    }
    if (state.call_fails) {
      return cudaSuccess; // the caller gets the error, and no graph
    }
    Graph created;
    created.made_by_call = state.counters.calls;
    created.nodes = std::make_shared<const GraphNodes>(std::move(end.capture->nodes));
    *graph = state.new_handle<cudaGraph_t>();
    state.graphs[*graph] = std::move(created);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return on_stream("cudaStreamIsCapturing", stream, [=](Runtime&, Stream& found) {
    const Capture* capture = found.capture.capture.get();
    *status = capture == nullptr ? cudaStreamCaptureStatusNone
              : capture->invalid ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call("cudaGraphInstantiate", [=](Runtime& state) {
    const auto found = state.graphs.find(graph);
    if (found == state.graphs.end()) {
      return cudaErrorInvalidValue;
    }
    GraphExec created;
    created.made_by_call = state.counters.calls;
    created.nodes = found->second.nodes;
    *exec = state.new_handle<cudaGraphExec_t>();
    state.execs[*exec] = std::move(created);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphUpload", [=](Runtime& state) {
    Stream* found = state.find_stream(stream);
    return found == nullptr || state.execs.count(exec) == 0 ? cudaErrorInvalidValue
                                                            : state.issue(*found, {});
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return on_stream("cudaGraphLaunch", stream, [=](Runtime& state, Stream& its_stream) {
    const auto found = state.execs.find(exec);
    return found == state.execs.end() ? cudaErrorInvalidResourceHandle
                                      : launch_graph(state, found->second, its_stream);
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call("cudaGraphGetNodes", [=](Runtime& state) {
    const auto found = state.graphs.find(graph);
    if (found == state.graphs.end() || nodes != nullptr) {
      return cudaErrorInvalidValue; // only the count is to be had
    }
    *count = found->second.nodes->size();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return giving_back("cudaGraphDestroy", [=](Runtime& state) {
    return state.graphs.erase(graph) == 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return giving_back("cudaGraphExecDestroy", [=](Runtime& state) {
    return state.execs.erase(exec) == 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
}
