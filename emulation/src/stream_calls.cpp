// SPDX-License-Identifier: Apache-2.0
// The runtime's calls on streams and events.
#include "program.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

using namespace diffbench::emulation;

namespace {

cudaError_t create_stream(Runtime& state, cudaStream_t* stream, unsigned flags) {
  Stream created;
  created.made_by_call = state.counters.calls;
  created.made_at = call_site();
  created.device = state.current_device;
  created.blocking = (flags & cudaStreamNonBlocking) == 0;
  *stream = state.new_handle<cudaStream_t>();
  state.streams[*stream] = created;
  return cudaSuccess;
}

cudaError_t create_event(Runtime& state, cudaEvent_t* event, unsigned flags) {
  Event created;
  created.made_by_call = state.counters.calls;
  created.made_at = call_site();
  created.timing = (flags & cudaEventDisableTiming) == 0;
  *event = state.new_handle<cudaEvent_t>();
  state.events[*event] = created;
  return cudaSuccess;
}

// A program that polls gives the device time: one operation a query.
cudaError_t query(Runtime& state, const OperationPtr& operation) {
  if (operation != nullptr && !operation->done()) {
    const Memory::Access access(state.memory);
    state.work.run_one(state.random);
  }
  if (state.device().sticky != cudaSuccess) {
    return state.device().sticky;
  }
  if (operation != nullptr && !operation->done()) {
    return cudaErrorNotReady;
  }
  state.ledger.note_drain();
  return state.wait_for(operation);
}

// The stream's part in a capture from here on also comes after `event`.
cudaError_t join_capture(Stream& stream, const Event& event) {
  if (event.capture.capture == nullptr) {
    stream.capture.capture->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (stream.capture.capture == nullptr) {
    stream.capture = event.capture;
    return cudaSuccess;
  }
  if (stream.capture.capture != event.capture.capture) {
    stream.capture.capture->invalid = event.capture.capture->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  auto& nodes = stream.capture.nodes;
  for (const std::size_t node : event.capture.nodes) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
      nodes.push_back(node);
    }
  }
  return cudaSuccess;
}

cudaError_t wait_event(Runtime& state, Stream& stream, const Event& event) {
  const bool captured = event.capture.capture != nullptr;
  if (captured || stream.capture.capture != nullptr) {
    return join_capture(stream, event);
  }
  if (event.recorded == nullptr) {
    return cudaSuccess; // an event that was never recorded holds nobody up
  }
  stream.last = state.work.add({}, {stream.last, event.recorded});
  return cudaSuccess;
}

} // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call("cudaStreamCreate",
              [=](Runtime& state) { return create_stream(state, stream, cudaStreamDefault); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreateWithFlags",
              [=](Runtime& state) { return create_stream(state, stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return call("cudaStreamCreateWithPriority",
              [=](Runtime& state) { return create_stream(state, stream, flags); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return giving_back("cudaStreamDestroy", [=](Runtime& state) {
    if (state.streams.erase(stream) == 0) {
      state.report("a stream is destroyed twice, or was never made");
      return cudaErrorInvalidResourceHandle;
    }
    return cudaSuccess; // its work goes on
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const auto body = [](Runtime& state, Stream& found) {
    if (found.capture.capture != nullptr) {
      found.capture.capture->invalid = true;
      return cudaErrorStreamCaptureUnsupported;
    }
    note_wait(state, &found, std::ssize(state.launched));
    return state.wait_for(found.last);
  };
  return on_stream("cudaStreamSynchronize", stream, body, WhenMadeToFail::drop_pending);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return on_stream("cudaStreamQuery", stream,
                   [](Runtime& state, Stream& found) { return query(state, found.last); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return on_stream("cudaStreamWaitEvent", stream, [=](Runtime& state, Stream& found) {
    const Event* its_event = state.find_event(event);
    return its_event == nullptr ? cudaErrorInvalidResourceHandle
                                : wait_event(state, found, *its_event);
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return on_stream("cudaLaunchHostFunc", stream, [=](Runtime& state, Stream& found) {
    return state.issue(found, [=] { function(data); });
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate",
              [=](Runtime& state) { return create_event(state, event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreateWithFlags",
              [=](Runtime& state) { return create_event(state, event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return giving_back("cudaEventDestroy", [=](Runtime& state) {
    if (state.events.erase(event) == 0) {
      state.report("an event is destroyed twice, or was never made");
      return cudaErrorInvalidResourceHandle;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return on_stream("cudaEventRecord", stream, [=](Runtime& state, Stream& its_stream) {
    Event* its_event = state.find_event(event);
    if (its_event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    its_event->capture = its_stream.capture;
    if (its_stream.capture.capture != nullptr) {
      return cudaSuccess;
    }
    const cudaError_t issued = state.issue(its_stream, {});
    its_event->recorded = its_stream.last;
    its_event->stream = &its_stream;
    its_event->mark = state.ledger.done;
    return issued;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return waiting("cudaEventSynchronize", [=](Runtime& state) {
    const Event* found = state.find_event(event);
    if (found == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (found->capture.capture != nullptr) {
      return cudaErrorCapturedEvent;
    }
    note_wait(state, found->stream, found->mark.launches);
    return state.wait_for(found->recorded);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [=](Runtime& state) {
    const Event* found = state.find_event(event);
    return found == nullptr ? cudaErrorInvalidResourceHandle : query(state, found->recorded);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", [=](Runtime& state) {
    const Event* first = state.find_event(start);
    const Event* last = state.find_event(end);
    if (first == nullptr || last == nullptr || !first->timing || !last->timing ||
        first->recorded == nullptr || last->recorded == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!first->recorded->done() || !last->recorded->done()) {
      if (is_program()) {
        state.report(
            "the time between two events is asked for before the device has reached them, "
            "so there is none yet (cudaErrorNotReady); cudaEventSynchronize() of the "
            "second one waits",
            FindingKind::stopwatch);
      }
      return cudaErrorNotReady;
    }
    judge_events(state, *first, *last);
    const auto ticks = last->recorded->done_at - first->recorded->done_at;
    *milliseconds = is_program() ? std::numeric_limits<float>::quiet_NaN() // of no card
                                 : static_cast<float>(ticks) * 1e-3f;
    return cudaSuccess;
  });
}
