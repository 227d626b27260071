// Copies between host and device in all six ways of holding the host's side.
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/launch.hpp"
#include "diffbench/gpu/memory.hpp"
#include "diffbench/gpu/stream.hpp"
#include "diffbench/machine.hpp"
#include "gpu_operations.hpp"
#include "operation.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace diffbench::bench {

namespace {

// --- mapped memory: a kernel does the copy, 16 bytes a thread at a time
// ------------------------------

__global__ void copy_words(const int4* from, int4* to, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    to[i] = from[i];
  }
}

void launch_copy(const gpu::Stream& stream, const void* from, void* to, std::int64_t bytes) {
  constexpr int threads = 256;
  const std::int64_t words = bytes / static_cast<std::int64_t>(sizeof(int4));
  // Some blocks on each multiprocessor keep enough requests under way to fill the bus.
  const auto blocks = std::min<std::int64_t>((words + threads - 1) / threads, 1024);
  gpu::launch(stream, {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(threads)},
              copy_words, static_cast<const int4*>(from), static_cast<int4*>(to),
              static_cast<long long>(words));
}

// --- the host's side
// -------------------------------------------------------------------------------

struct HostMemory {
  HostMemory(Transfer transfer, std::int64_t bytes) {
    switch (transfer) {
      case Transfer::pageable:
        ordinary = AlignedArray<std::byte>(bytes);
        data = ordinary.data();
        break;
      case Transfer::registered:
        registered = gpu::RegisteredArray<std::byte>(bytes);
        data = registered.data();
        break;
      case Transfer::pinned: pin(bytes, cudaHostAllocDefault); break;
      case Transfer::write_combined: pin(bytes, cudaHostAllocWriteCombined); break;
      case Transfer::mapped: pin(bytes, cudaHostAllocMapped); break;
      case Transfer::managed:
        managed = gpu::ManagedArray<std::byte>(bytes);
        data = managed.data();
        break;
    }
  }

  void pin(std::int64_t bytes, unsigned flags) {
    pinned = gpu::PinnedArray<std::byte>(bytes, flags);
    data = pinned.data();
  }

  AlignedArray<std::byte> ordinary;
  gpu::RegisteredArray<std::byte> registered;
  gpu::PinnedArray<std::byte> pinned;
  gpu::ManagedArray<std::byte> managed;
  std::byte* data = nullptr;
};

// --- a pattern that shows that a copy arrived
// ------------------------------------------------------

/// Calls visit(index, value) for 4096 bytes spread over all, the first and the last among them: to
/// read all of write-combined memory would take ten seconds a gigabyte.
template <typename Visit>
void visit_marks(std::int64_t bytes, Visit visit) {
  constexpr std::int64_t marks = 4096;
  for (std::int64_t mark = 0; mark < marks; ++mark) {
    const std::int64_t index = mark * (bytes - 1) / (marks - 1);
    visit(index, static_cast<std::byte>(1 + index % 251));
  }
}

/// Zeros, with the pattern on them or without. Touches all pages.
void fill(std::byte* memory, std::int64_t bytes, bool marked) {
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  if (marked) {
    visit_marks(bytes, [&](std::int64_t i, std::byte value) { memory[i] = value; });
  }
}

void require_marks(const std::byte* memory, std::int64_t bytes) {
  visit_marks(bytes, [&](std::int64_t i, std::byte value) {
    if (memory[i] != value) {
      throw WrongResult("byte " + std::to_string(i) + " of the copy is not what was copied");
    }
  });
}

// --- one direction, and both
// -----------------------------------------------------------------------

/// Copies one way, on a stream of its own.
class Lane {
 public:
  Lane(bool up, Transfer transfer, std::int64_t bytes)
      : up_(up), transfer_(transfer), bytes_(bytes), host_(transfer, bytes) {
    if (transfer != Transfer::managed) {
      device_ = gpu::DeviceArray<std::byte>(bytes);
    }
    prove();
  }

  /// Does not block where the memory is page-locked.
  void start() {
    const auto size = static_cast<std::size_t>(bytes_);
    if (transfer_ == Transfer::managed) {
      move_pages(up_);
    } else if (transfer_ == Transfer::mapped) {
      void* const host = host_.pinned.device_data();
      launch_copy(stream_, up_ ? host : device_.data(), up_ ? device_.data() : host, bytes_);
    } else if (up_) {
      gpu::copy_to_device(stream_, device_.data(), host_.data, size);
    } else {
      gpu::copy_to_host(stream_, host_.data, device_.data(), size);
    }
  }
  void wait() { stream_.synchronize(); }

  /// Moves managed pages back to where they come from, and waits.
  void reset() {
    move_pages(!up_);
    wait();
  }

 private:
  void move_pages(bool up) {
    const auto size = static_cast<std::size_t>(bytes_);
    if (up) {
      gpu::prefetch_to_device(stream_, host_.data, size, 0);
    } else {
      gpu::prefetch_to_host(stream_, host_.data, size);
    }
  }

  std::byte* device_data() { return transfer_ == Transfer::managed ? host_.data : device_.data(); }

  /// The pattern must come out where it has to; this is also the first use of the memory.
  void prove() {
    const auto size = static_cast<std::size_t>(bytes_);
    AlignedArray<std::byte> other(bytes_);
    fill(host_.data, bytes_, up_);
    fill(other.data(), bytes_, !up_);
    if (!up_) {
      gpu::copy_to_device(stream_, device_data(), other.data(), size);
    }
    start();
    if (up_) {
      gpu::copy_to_host(stream_, other.data(), device_data(), size);
    }
    wait();
    require_marks(up_ ? other.data() : host_.data, bytes_);
  }

  bool up_;
  Transfer transfer_;
  std::int64_t bytes_;
  HostMemory host_;
  gpu::DeviceArray<std::byte> device_;
  gpu::Stream stream_; // waited for before the memory goes
};

class LaneCopy final : public GpuCopy {
 public:
  LaneCopy(Direction direction, Transfer transfer, std::int64_t bytes)
      : managed_(transfer == Transfer::managed) {
    if (direction != Direction::d2h) {
      up_.emplace(true, transfer, bytes);
    }
    if (direction != Direction::h2d) {
      down_.emplace(false, transfer, bytes);
    }
  }

  [[nodiscard]] bool needs_reset() const override { return managed_; }
  void reset() override {
    each([](Lane& lane) { lane.reset(); });
  }
  void run() override {
    each([](Lane& lane) { lane.start(); });
    each([](Lane& lane) { lane.wait(); });
  }

 private:
  template <typename Act>
  void each(Act act) {
    for (std::optional<Lane>* lane : {&up_, &down_}) {
      if (*lane) {
        act(**lane);
      }
    }
  }

  bool managed_;
  std::optional<Lane> up_;
  std::optional<Lane> down_;
};

} // namespace

std::unique_ptr<GpuCopy> make_gpu_copy(Direction direction, Transfer transfer, std::int64_t bytes) {
  (void)gpu::use_device(0);
  const std::int64_t lanes = direction == Direction::both ? 2 : 1;
  require_memory("GPU", lanes * bytes, gpu::free_memory());
  require_memory("host", (lanes + 1) * bytes, available_memory()); // one more for the proof
  return std::make_unique<LaneCopy>(direction, transfer, bytes);
}

} // namespace diffbench::bench
