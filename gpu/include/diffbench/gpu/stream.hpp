// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#pragma once

#include "diffbench/gpu/owner.hpp"

#include <cuda_runtime.h>

namespace diffbench::gpu {

namespace detail {
void destroy_stream(cudaStream_t stream) noexcept;
void destroy_event(cudaEvent_t event) noexcept;
} // namespace detail

/// A point in a stream. Functions throw CudaError.
class Event {
 public:
  enum class Timing { on, off };
  explicit Event(Timing timing = Timing::on);

  [[nodiscard]] cudaEvent_t get() const { return event_.get(); }
  /// Blocks until the work before the event is done; a deferred error is thrown here.
  void wait() const;
  /// Device time between two events that have both been reached, in seconds; resolution about 0.5
  /// us (CUDA runtime API, cudaEventElapsedTime).
  [[nodiscard]] double seconds_since(const Event& start) const;

 private:
  Owner<cudaEvent_t, detail::destroy_event> event_;
};

/// A stream that does not synchronise with the default stream. Destruction waits for its work.
class Stream {
 public:
  Stream();

  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
  /// Does not block.
  void record(const Event& event) const;
  /// Work that is issued from now on starts after `event`. Does not block.
  void wait_for(const Event& event) const;
  /// Blocks until all issued work is done; deferred errors are thrown here.
  void synchronize() const;

 private:
  Owner<cudaStream_t, detail::destroy_stream> stream_;
};

} // namespace diffbench::gpu
