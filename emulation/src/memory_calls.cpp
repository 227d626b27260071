// SPDX-License-Identifier: Apache-2.0
// The runtime's calls on memory and copies.
#include "code_site.hpp"
#include "program.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <emulation/user_reports.h>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

using namespace diffbench::emulation;

namespace {

void note_allocation(Ledger& ledger, MemoryKind kind, std::size_t bytes) {
  ledger.allocations[static_cast<std::size_t>(kind)].add(static_cast<std::int64_t>(bytes));
  ++ledger.done.allocations;
}

cudaError_t allocate(Runtime& state, MemoryKind kind, void** memory, std::size_t bytes) {
  if (state.forbidden_by_capture()) {
    return cudaErrorStreamCaptureUnsupported;
  }
  *memory = nullptr;
  if (bytes == 0) {
    return kind == MemoryKind::device ? cudaSuccess : cudaErrorInvalidValue;
  }
  const int device = state.current_device;
  const std::size_t used = state.memory.bytes_on(device);
  if (kind == MemoryKind::device && bytes > state.device().spec.memory_bytes - used) {
    return cudaErrorMemoryAllocation;
  }
  *memory = state.memory.allocate(kind, bytes, device, state.counters.calls);
  note_allocation(state.ledger, kind, bytes);
  state.decide_host_watch();
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

// Frees after the pending work, as the runtime does: it waits for the device. (Work that uses the
// memory and could not have been waited for is therefore no bug.)
cudaError_t release(Runtime& state, void* memory, bool of_host, cudaError_t unknown) {
  if (memory == nullptr) {
    return cudaSuccess;
  }
  if (state.forbidden_by_capture()) {
    return cudaErrorStreamCaptureUnsupported;
  }
  const cudaError_t earlier = state.wait_for_all();
  const Buffer* buffer = state.memory.find(memory, 0);
  const bool owns = buffer != nullptr && buffer->data == memory;
  const bool kind_fits =
      owns && !buffer->mapping.empty() && (buffer->kind == MemoryKind::pinned) == of_host;
  if (!kind_fits) {
    const Buffer* former = state.memory.near(memory);
    state.report(former != nullptr && former->freed
                     ? "double free of " + former->description()
                     : "free of memory that this call did not hand out");
    return unknown;
  }
  ++state.ledger.frees;
  ++state.ledger.done.allocations;
  state.ledger.note_drain();
  const std::string written = state.memory.release(memory).value_or("");
  if (!written.empty()) {
    state.report(written, FindingKind::out_of_bounds);
  }
  return earlier;
}

// Pages are what is locked: a range may not begin or end in one of another range.
bool shares_a_page(Runtime& state, const void* memory, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first_page = [page](const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) / page;
  };
  const auto last_page = [page](const void* data, std::size_t size) {
    return (reinterpret_cast<std::uintptr_t>(data) + size - 1) / page;
  };
  const auto& live = state.memory.live();
  return std::any_of(live.begin(), live.end(), [&](const auto& entry) {
    const Buffer& range = entry.second;
    return range.kind == MemoryKind::registered &&
           first_page(range.data) <= last_page(memory, bytes) &&
           first_page(memory) <= last_page(range.data, range.bytes);
  });
}

// A copy of `height` rows.
struct Rows {
  std::byte* to;
  std::size_t to_pitch;
  const std::byte* from;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;
};

void copy_rows(const Rows& rows) {
  for (std::size_t y = 0; y < rows.height; ++y) {
    std::memcpy(rows.to + y * rows.to_pitch, rows.from + y * rows.from_pitch, rows.width);
  }
}

enum class Side { device, pinned, registered, pageable, wrong };

// Where a range lies that a copy names. A range that begins in or beside a buffer and leaves it is
// wrong.
Side side_of(Runtime& state, const void* data, std::size_t bytes, const char* role) {
  if (const Buffer* buffer = state.memory.find(data, bytes)) {
    return buffer->kind == MemoryKind::pinned       ? Side::pinned
           : buffer->kind == MemoryKind::registered ? Side::registered
                                                    : Side::device;
  }
  const Buffer* near = state.memory.near(data);
  if (near == nullptr) {
    return Side::pageable;
  }
  if (near->kind == MemoryKind::registered) {
    return Side::pageable; // in part, so the runtime treats all of it as such
  }
  state.report(std::string(near->freed ? "use after free: " : "out of bounds: ") + role + " of " +
                   std::to_string(bytes) + " bytes does not lie in " + near->description(),
               near->freed ? FindingKind::use_after_free : FindingKind::copy_size);
  return Side::wrong;
}

// Managed memory counts as the device's, which a copy may also take for the host's.
void count_copy(Ledger& ledger, Side to, Side from, std::size_t bytes, bool blocks) {
  const bool to_device = to == Side::device;
  const bool from_device = from == Side::device;
  const CopyWay way = to_device ? (from_device ? CopyWay::on_device : CopyWay::to_device)
                                : (from_device ? CopyWay::to_host : CopyWay::on_host);
  const Side host = to_device ? from : to;
  const HostMemory memory = host == Side::pinned       ? HostMemory::pinned
                            : host == Side::registered ? HostMemory::registered
                                                       : HostMemory::pageable;
  ledger.copies[static_cast<std::size_t>(way)][static_cast<std::size_t>(memory)].add(
      static_cast<std::int64_t>(bytes));
  ledger.done.copies += bytes > 1024 && (way == CopyWay::to_device || way == CopyWay::to_host);
  if (blocks) {
    ledger.note_drain();
  } else if (host == Side::pinned || host == Side::registered) {
    ledger.async_copies[to_device ? 0 : 1].add(static_cast<std::int64_t>(bytes));
  }
}

bool fits(cudaMemcpyKind kind, Side to, Side from) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return kind == cudaMemcpyDefault ||
         ((to == Side::device) == to_device && (from == Side::device) == from_device);
}

// A variable of the device has an address of its own there, which only the runtime knows.
bool names_variable(Runtime& state, const void* data) {
  const Buffer* const buffer = state.memory.find(data, 0);
  const bool is_variable = buffer != nullptr && (buffer->kind == MemoryKind::variables ||
                                                 buffer->kind == MemoryKind::constants);
  return is_variable && !state.symbols_have_addresses;
}

cudaError_t copy(Runtime& state, Rows rows, cudaMemcpyKind kind, Stream* stream, bool blocks) {
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (blocks && state.forbidden_by_capture()) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (rows.width == 0 || rows.height == 0) {
    return cudaSuccess;
  }
  if (rows.to_pitch < rows.width || rows.from_pitch < rows.width) {
    return cudaErrorInvalidPitchValue;
  }
  const auto extent = [&rows](std::size_t pitch) { return (rows.height - 1) * pitch + rows.width; };
  const Side to = side_of(state, rows.to, extent(rows.to_pitch), "the target of a copy");
  const Side from = side_of(state, rows.from, extent(rows.from_pitch), "the source of a copy");
  if (to == Side::wrong || from == Side::wrong) {
    return cudaErrorInvalidValue;
  }
  if (names_variable(state, rows.to) || names_variable(state, rows.from)) {
    state.report(
        "a copy names a variable of the device as if that were its address there; "
        "cudaMemcpyToSymbol() and cudaMemcpyFromSymbol() copy to and from it");
    return cudaErrorInvalidValue;
  }
  if (!fits(kind, to, from)) {
    state.report("a copy's direction contradicts its pointers", FindingKind::copy_direction);
    return cudaErrorInvalidMemcpyDirection;
  }
  // Copies from and to pageable memory may or may not be done when the call returns (CUDA Runtime
  // API, "API synchronization behavior"): a source may be read now, a target be reached now.
  const bool capturing = stream->capture.capture != nullptr;
  const bool may_block = !capturing && !blocks && state.random.coin();
  auto staged = std::make_shared<std::vector<std::byte>>();
  if (from == Side::pageable && may_block) {
    staged->resize(rows.width * rows.height);
    copy_rows({staged->data(), rows.width, rows.from, rows.from_pitch, rows.width, rows.height});
    rows.from = staged->data();
    rows.from_pitch = rows.width;
  }
  const std::uint64_t site = call_site();
  const std::string name =
      site != 0 ? "the copy" : "the copy of call " + std::to_string(state.counters.calls);
  count_copy(state.ledger, to, from, rows.width * rows.height, blocks);
  if (!blocks && (to == Side::pageable || from == Side::pageable)) {
    state.ledger.pageable_async.add(static_cast<std::int64_t>(rows.width * rows.height));
  }
  const bool to_host = to != Side::device;
  const cudaError_t issued = state.issue(*stream, [&state, rows, staged, name, site, to_host] {
    ++state.counters.copies;
    const bool watched = watches_copy(rows.width * rows.height);
    if (!watched) {
      race_detector().expose();
    }
    for (std::size_t y = 0; watched && y < rows.height; ++y) {
      race_detector().access(name, rows.from + y * rows.from_pitch, rows.width, false, site);
      race_detector().access(name, rows.to + y * rows.to_pitch, rows.width, true, site);
    }
    if (rows.height == 1) {
      race_detector().note_copy(rows.to, rows.width, site);
    }
    copy_rows(rows);
    for (std::size_t y = 0; to_host && y < rows.height; ++y) {
      note_copied(rows.to + y * rows.to_pitch, rows.width, site);
    }
  });
  if (issued == cudaSuccess && !capturing && !blocks) {
    const auto use = [&](Side side, const std::byte* data, std::size_t pitch, bool writes) {
      if (side != Side::device && data != staged->data()) {
        state.add_host_use(
            {reinterpret_cast<std::uintptr_t>(data), extent(pitch), writes, site, stream->last});
      }
    };
    use(to, rows.to, rows.to_pitch, true);
    use(from, rows.from, rows.from_pitch, false);
  }
  if (issued == cudaSuccess && blocks) {
    return state.wait_for(stream->last);
  }
  if (issued == cudaSuccess && to == Side::pageable && may_block) {
    state.run_until_done(stream->last); // nothing may rely on it
    return state.device().sticky;
  }
  return issued;
}

cudaError_t set_bytes(Runtime& state, void* memory, int value, std::size_t bytes, Stream* stream,
                      bool counted = true) {
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  const Side side = side_of(state, memory, bytes, "a memset");
  if (side == Side::wrong || side == Side::pageable) {
    return cudaErrorInvalidValue;
  }
  const std::uint64_t site = call_site();
  const std::string name =
      site != 0 ? "the memset" : "the memset of call " + std::to_string(state.counters.calls);
  if (counted) {
    state.ledger.memsets.add(static_cast<std::int64_t>(bytes));
  }
  return state.issue(*stream, [&state, memory, value, bytes, name, site] {
    ++state.counters.copies;
    if (watches_copy(bytes)) {
      race_detector().access(name, memory, bytes, true, site);
    } else {
      race_detector().expose();
    }
    std::memset(memory, value, bytes);
  });
}

Rows rows_of(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
             std::size_t width, std::size_t height) {
  return {static_cast<std::byte*>(to),
          to_pitch,
          static_cast<const std::byte*>(from),
          from_pitch,
          width,
          height};
}

cudaError_t allocation(const char* name, MemoryKind kind, void** memory, std::size_t bytes) {
  return call(name, [=](Runtime& state) { return allocate(state, kind, memory, bytes); });
}

cudaError_t copying(const char* name, const Rows& rows, cudaMemcpyKind kind, cudaStream_t stream,
                    bool blocks) {
  return call(
      name,
      [=](Runtime& state) { return copy(state, rows, kind, state.find_stream(stream), blocks); },
      blocks ? WhenMadeToFail::drop_pending : WhenMadeToFail::nothing);
}

cudaError_t setting(const char* name, void* memory, int value, std::size_t bytes,
                    cudaStream_t stream, bool counted = true) {
  return call(name, [=](Runtime& state) {
    return set_bytes(state, memory, value, bytes, state.find_stream(stream), counted);
  });
}

} // namespace

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return allocation("cudaMalloc", MemoryKind::device, memory, bytes);
}

cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned) {
  return allocation("cudaMallocManaged", MemoryKind::managed, memory, bytes);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return allocation("cudaHostAlloc", MemoryKind::pinned, memory, bytes);
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes, unsigned) {
  return allocation("cudaMallocHost", MemoryKind::pinned, memory, bytes);
}

cudaError_t cudaMallocPitch(void** memory, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return call("cudaMallocPitch", [=](Runtime& state) {
    constexpr std::size_t pitch_unit = 512; // of current devices
    *pitch = (width + pitch_unit - 1) / pitch_unit * pitch_unit;
    return allocate(state, MemoryKind::device, memory, *pitch * height);
  });
}

// The memory is there at once, which is earlier than it need be.
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  return on_stream("cudaMallocAsync", stream, [=](Runtime& state, Stream&) {
    return allocate(state, MemoryKind::device, memory, bytes);
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return giving_back("cudaFreeAsync", [=](Runtime& state) {
    Stream* its_stream = state.find_stream(stream);
    const Buffer* const buffer = state.memory.find(memory, 0);
    if (its_stream == nullptr || buffer == nullptr || buffer->data != memory ||
        buffer->kind != MemoryKind::device) {
      return cudaErrorInvalidValue;
    }
    ++state.ledger.frees;
    ++state.ledger.done.allocations;
    return state.issue(*its_stream, [&state, memory] {
      const std::string written = state.memory.release(memory).value_or("");
      if (!written.empty()) {
        state.report(written, FindingKind::out_of_bounds);
      }
    });
  });
}

cudaError_t cudaFree(void* memory) {
  return giving_back("cudaFree", [=](Runtime& state) {
    return release(state, memory, false, cudaErrorInvalidValue);
  });
}

cudaError_t cudaFreeHost(void* memory) {
  return giving_back("cudaFreeHost", [=](Runtime& state) {
    return release(state, memory, true, cudaErrorInvalidValue);
  });
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  return call("cudaHostRegister", [=](Runtime& state) {
    if (memory == nullptr || bytes == 0) {
      return cudaErrorInvalidValue;
    }
    const Buffer* near = state.memory.near(memory);
    if ((near != nullptr && !near->freed) || shares_a_page(state, memory, bytes)) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    state.memory.enlist(memory, bytes, state.current_device, state.counters.calls);
    note_allocation(state.ledger, MemoryKind::registered, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  return giving_back("cudaHostUnregister", [=](Runtime& state) {
    const Buffer* range = state.memory.find(memory, 0);
    if (range == nullptr || range->kind != MemoryKind::registered || range->data != memory) {
      return cudaErrorHostMemoryNotRegistered;
    }
    const cudaError_t earlier = state.wait_for_all();
    state.memory.release(memory);
    return earlier;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return call("cudaHostGetDevicePointer", [=](Runtime& state) {
    const Buffer* buffer = state.memory.find(host, 1);
    if (buffer == nullptr || buffer->kind == MemoryKind::device) {
      return cudaErrorInvalidValue;
    }
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  return call("cudaPointerGetAttributes", [=](Runtime& state) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(memory)};
    if (const Buffer* buffer = state.memory.find(memory, 1)) {
      const cudaMemoryType types[] = {
          cudaMemoryTypeDevice, cudaMemoryTypeHost,   cudaMemoryTypeManaged, cudaMemoryTypeHost,
          cudaMemoryTypeDevice, cudaMemoryTypeDevice, cudaMemoryTypeManaged};
      attributes->type = types[static_cast<int>(buffer->kind)];
      attributes->device = buffer->device;
      attributes->devicePointer = const_cast<void*>(memory);
      if (buffer->kind == MemoryKind::device) {
        attributes->hostPointer = nullptr;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", [=](Runtime& state) {
    *total = state.device().spec.memory_bytes;
    const std::size_t used = state.memory.bytes_on(state.current_device);
    *free = used < *total ? *total - used : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copying("cudaMemcpy", rows_of(to, bytes, from, bytes, bytes, 1), kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copying("cudaMemcpyAsync", rows_of(to, bytes, from, bytes, bytes, 1), kind, stream, false);
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copying("cudaMemcpy2D", rows_of(to, to_pitch, from, from_pitch, width, height), kind,
                 nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copying("cudaMemcpy2DAsync", rows_of(to, to_pitch, from, from_pitch, width, height), kind,
                 stream, false);
}

cudaError_t cudaMemset2D(void* memory, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return call("cudaMemset2D", [=](Runtime& state) {
    if (pitch < width) {
      return cudaErrorInvalidPitchValue;
    }
    cudaError_t result = cudaSuccess;
    for (std::size_t y = 0; y < height && width > 0 && result == cudaSuccess; ++y) {
      result = set_bytes(state, static_cast<std::byte*>(memory) + y * pitch, value, width,
                         state.find_stream(nullptr));
    }
    return result;
  });
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return setting("cudaMemset", memory, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return setting("cudaMemsetAsync", memory, value, bytes, stream);
}

// Where managed memory resides makes no difference here; the pointer and the place are checked.
cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return call("cudaMemPrefetchAsync", [=](Runtime& state) {
    const Buffer* buffer = state.memory.find(memory, bytes);
    const bool managed = buffer != nullptr && buffer->kind == MemoryKind::managed;
    const bool on_device = location.type == cudaMemLocationTypeDevice;
    if (!managed || flags != 0 || (!on_device && location.type != cudaMemLocationTypeHost)) {
      return cudaErrorInvalidValue;
    }
    if (on_device &&
        (location.id < 0 || static_cast<std::size_t>(location.id) >= state.devices.size())) {
      return cudaErrorInvalidDevice;
    }
    Stream* its_stream = state.find_stream(stream);
    if (its_stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    race_detector().move_managed(memory, bytes, on_device);
    return state.issue(*its_stream, {});
  });
}

cudaError_t cudaMemAdvise(const void* memory, std::size_t bytes, cudaMemoryAdvise,
                          cudaMemLocation) {
  return call("cudaMemAdvise", [=](Runtime& state) {
    const Buffer* buffer = state.memory.find(memory, bytes);
    const bool managed = buffer != nullptr && buffer->kind == MemoryKind::managed;
    return managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}

namespace diffbench::emulation::detail {

void poison_device(void* memory, std::size_t bytes) {
  static_cast<void>(setting("cudaMemset", memory, 0xff, bytes, nullptr, /*counted=*/false));
}

namespace {

// Copies between `symbol` and `other`, which may be a variable's address for once.
cudaError_t copy_symbol(const char* name, void* to, const void* from, const void* symbol,
                        std::size_t symbol_bytes, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool blocks) {
  return call(
      name,
      [=](Runtime& state) {
        if (!is_device_variable(symbol)) {
          state.report(std::string(name) + ": what it names is no variable of the device");
          return cudaErrorInvalidSymbol;
        }
        if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
          state.report(std::string(name) + " copies " + std::to_string(bytes) +
                           " bytes from byte " + std::to_string(offset) +
                           " of a variable that has " + std::to_string(symbol_bytes),
                       FindingKind::copy_size);
          return cudaErrorInvalidValue;
        }
        const bool before = std::exchange(state.symbols_have_addresses, true);
        const cudaError_t result = copy(state, rows_of(to, bytes, from, bytes, bytes, 1), kind,
                                        state.find_stream(stream), blocks);
        state.symbols_have_addresses = before;
        return result;
      },
      blocks ? WhenMadeToFail::drop_pending : WhenMadeToFail::nothing);
}

} // namespace

cudaError_t copy_to_symbol(const void* symbol, std::size_t symbol_bytes, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool blocks) {
  auto* const to = static_cast<std::byte*>(const_cast<void*>(symbol)) + offset;
  return copy_symbol("cudaMemcpyToSymbol", to, from, symbol, symbol_bytes, bytes, offset, kind,
                     stream, blocks);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes,
                             std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                             cudaStream_t stream, bool blocks) {
  return copy_symbol("cudaMemcpyFromSymbol", to, static_cast<const std::byte*>(symbol) + offset,
                     symbol, symbol_bytes, bytes, offset, kind, stream, blocks);
}

cudaError_t address_of_symbol(void** address, const void* symbol) {
  return call("cudaGetSymbolAddress", [=](Runtime& state) {
    if (!is_device_variable(symbol)) {
      return cudaErrorInvalidSymbol;
    }
    state.symbols_have_addresses = true;
    *address = const_cast<void*>(symbol);
    return cudaSuccess;
  });
}

} // namespace diffbench::emulation::detail
