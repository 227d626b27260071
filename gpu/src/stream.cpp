// SPDX-License-Identifier: Apache-2.0
#include "diffbench/gpu/stream.hpp"

#include "diffbench/gpu/error.hpp"

namespace diffbench::gpu {

namespace detail {

void destroy_stream(cudaStream_t stream) noexcept {
  DIFFBENCH_CUDA_LOG(cudaStreamSynchronize(stream));
  DIFFBENCH_CUDA_LOG(cudaStreamDestroy(stream));
}

void destroy_event(cudaEvent_t event) noexcept { DIFFBENCH_CUDA_LOG(cudaEventDestroy(event)); }

} // namespace detail

Event::Event(Timing timing) {
  cudaEvent_t event = nullptr;
  const unsigned flags = timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming;
  DIFFBENCH_CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
  event_ = decltype(event_)(event);
}

void Event::wait() const { DIFFBENCH_CUDA_CHECK(cudaEventSynchronize(get())); }

double Event::seconds_since(const Event& start) const {
  float milliseconds = 0;
  DIFFBENCH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.get(), get()));
  return 1e-3 * static_cast<double>(milliseconds);
}

Stream::Stream() {
  cudaStream_t stream = nullptr;
  DIFFBENCH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_ = decltype(stream_)(stream);
}

void Stream::record(const Event& event) const {
  DIFFBENCH_CUDA_CHECK(cudaEventRecord(event.get(), get()));
}

void Stream::wait_for(const Event& event) const {
  DIFFBENCH_CUDA_CHECK(cudaStreamWaitEvent(get(), event.get(), 0));
}

void Stream::synchronize() const { DIFFBENCH_CUDA_CHECK(cudaStreamSynchronize(get())); }

} // namespace diffbench::gpu
