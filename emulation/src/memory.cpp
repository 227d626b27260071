// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "canary.hpp"
#include "code_site.hpp"
#include "program.hpp"
#include "race_detector.hpp"
#include "sanitizer.hpp"
#include "user_image.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sys/mman.h>

namespace diffbench::emulation {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t alignment = 256; // of cudaMalloc (CUDA C++ Programming Guide)

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

// Where a buffer may be accessed at all, and the closed zones in there.
std::span<std::byte> pages_of(const Buffer& buffer) {
  return buffer.mapping.subspan(page, buffer.mapping.size() - 2 * page);
}
std::span<std::byte> zone_before(const Buffer& buffer) {
  return {pages_of(buffer).data(), buffer.data};
}
std::span<std::byte> zone_after(const Buffer& buffer) {
  const auto pages = pages_of(buffer);
  return {buffer.data + buffer.bytes, pages.data() + pages.size()};
}

bool holds(const Buffer& buffer, const std::byte* data) {
  const auto range = buffer.mapping.empty() ? std::span(buffer.data, buffer.bytes) : buffer.mapping;
  return data >= range.data() && data < range.data() + range.size();
}

} // namespace

std::string Buffer::description() const {
  const char* const names[] = {
      "device memory",        "pinned memory",          "managed memory",       "registered range",
      "__device__ variables", "__constant__ variables", "__managed__ variables"};
  const std::string what = names[static_cast<int>(kind)];
  if (kind >= MemoryKind::variables) {
    return what;
  }
  const std::string all =
      what + ", " + std::to_string(bytes) + " bytes, made " +
      (made_at != 0      ? "at " + line_of(made_at)
       : has_user_code() ? "by diffbench" // round a kernel or a solve of the user's
                         : "by call " + std::to_string(made_by_call));
  return name.empty() ? all : name + " (" + all + ")";
}

Memory::~Memory() {
  for (const auto& [data, buffer] : live_) {
    freed_.push_back(buffer);
  }
  for (const Buffer& buffer : freed_) {
    if (!buffer.mapping.empty()) {
      ASAN_UNPOISON_MEMORY_REGION(buffer.mapping.data(), buffer.mapping.size());
      munmap(buffer.mapping.data(), buffer.mapping.size());
    }
  }
}

void* Memory::allocate(MemoryKind kind, std::size_t bytes, int device, std::int64_t call) {
  const std::size_t inner = round_up(bytes, page);
  void* memory = mmap(nullptr, inner + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  auto* first = static_cast<std::byte*>(memory);
  mprotect(first + page, inner, PROT_READ | PROT_WRITE);
  Buffer buffer;
  buffer.kind = kind;
  buffer.bytes = bytes;
  buffer.device = device;
  buffer.made_by_call = call;
  buffer.made_at = call_site();
  buffer.name = std::exchange(next_name, {});
  buffer.mapping = {first, inner + 2 * page};
  buffer.data = first + page + inner - round_up(bytes, alignment);
  fill_with_poison(buffer.data, bytes);
  close_zone(zone_before(buffer));
  close_zone(zone_after(buffer));
  if (kind == MemoryKind::device && accesses_ == 0) {
    mprotect(first + page, inner, PROT_NONE);
  }
  live_[buffer.data] = buffer;
  race_detector().watch(buffer.data, bytes, buffer.description(),
                        {.unwritten = kind == MemoryKind::device || is_program(),
                         .exposed = kind != MemoryKind::device, // the host writes there unseen
                         .managed = kind == MemoryKind::managed,
                         .mapped = kind == MemoryKind::pinned});
  return buffer.data;
}

void Memory::enlist(void* data, std::size_t bytes, int device, std::int64_t call) {
  Buffer range;
  range.kind = MemoryKind::registered;
  range.data = static_cast<std::byte*>(data);
  range.bytes = bytes;
  range.device = device;
  range.made_by_call = call;
  range.made_at = call_site();
  live_[range.data] = range;
  race_detector().watch(data, bytes, range.description(), {.mapped = true});
}

void Memory::enlist_variables(std::span<std::byte> bytes, MemoryKind kind) {
  Buffer variables;
  variables.kind = kind;
  variables.data = bytes.data();
  variables.bytes = bytes.size();
  live_[variables.data] = variables;
  race_detector().watch(bytes.data(), bytes.size(), variables.description(),
                        {.managed = kind == MemoryKind::managed_variables});
}

std::optional<std::string> Memory::release(void* data) {
  const auto found = live_.find(static_cast<std::byte*>(data));
  if (found == live_.end()) {
    return std::nullopt;
  }
  Buffer buffer = found->second;
  live_.erase(found);
  race_detector().forget(data);
  if (buffer.kind == MemoryKind::registered) {
    return std::string();
  }
  const auto pages = pages_of(buffer);
  mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE);
  const bool before_ok = open_zone(zone_before(buffer));
  const bool after_ok = open_zone(zone_after(buffer));
  // A new mapping in its place gives the memory back and keeps the addresses.
  mmap(pages.data(), pages.size(), PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  buffer.freed = true;
  freed_.push_back(buffer);
  return before_ok && after_ok
             ? std::string()
             : "out of bounds: something was written beside " + buffer.description();
}

const Buffer* Memory::find(const void* data, std::size_t bytes) const {
  const auto* byte = static_cast<const std::byte*>(data);
  const auto after = live_.upper_bound(byte);
  if (after == live_.begin()) {
    return nullptr;
  }
  const Buffer& buffer = std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(byte - buffer.data);
  return offset <= buffer.bytes && bytes <= buffer.bytes - offset ? &buffer : nullptr;
}

const Buffer* Memory::near(const void* data) const {
  const auto* byte = static_cast<const std::byte*>(data);
  for (const auto& [begin, buffer] : live_) {
    if (holds(buffer, byte)) {
      return &buffer;
    }
  }
  const auto freed = std::find_if(freed_.begin(), freed_.end(),
                                  [byte](const Buffer& buffer) { return holds(buffer, byte); });
  return freed == freed_.end() ? nullptr : &*freed;
}

std::size_t Memory::bytes_on(int device) const {
  std::size_t total = 0;
  for (const auto& [data, buffer] : live_) {
    const bool there = buffer.kind == MemoryKind::device || buffer.kind == MemoryKind::managed;
    total += there && buffer.device == device ? buffer.bytes : 0;
  }
  return total;
}

bool Memory::has_managed() const {
  return std::any_of(live_.begin(), live_.end(),
                     [](const auto& each) { return each.second.kind == MemoryKind::managed; });
}

std::string Memory::overwritten() const {
  if (address_sanitizer) {
    return {};
  }
  const auto touched = [](std::byte b) { return b != canary; };
  for (const auto& [data, buffer] : live_) {
    if (buffer.mapping.empty()) {
      continue;
    }
    const auto before = zone_before(buffer);
    const auto after = zone_after(buffer);
    if (std::any_of(before.begin(), before.end(), touched) ||
        std::any_of(after.begin(), after.end(), touched)) {
      return "out of bounds: wrote beside " + buffer.description();
    }
  }
  return {};
}

void Memory::protect(const Buffer& buffer, int protection) {
  const auto pages = pages_of(buffer);
  mprotect(pages.data(), pages.size(), protection);
}

void Memory::protect_device_memory(int protection) {
  for (const auto& [data, buffer] : live_) {
    if (buffer.kind == MemoryKind::device || buffer.users > 0) {
      protect(buffer, protection);
    }
  }
}

Buffer* Memory::managed_at(const void* data) {
  const Buffer* const buffer = find(data, 0);
  return buffer != nullptr && buffer->kind == MemoryKind::managed ? &live_[buffer->data] : nullptr;
}

void Memory::occupy(const std::vector<const void*>& pointers) {
  for (const void* pointer : pointers) {
    Buffer* const buffer = managed_at(pointer);
    if (buffer != nullptr && buffer->users++ == 0 && accesses_ == 0) {
      protect(*buffer, PROT_NONE);
    }
  }
}

void Memory::release_use(const std::vector<const void*>& pointers) {
  for (const void* pointer : pointers) {
    Buffer* const buffer = managed_at(pointer);
    if (buffer != nullptr && --buffer->users == 0) {
      protect(*buffer, PROT_READ | PROT_WRITE);
    }
  }
}

Memory::Access::Access(Memory& memory) : memory_(memory) {
  if (memory_.accesses_++ == 0) {
    memory_.protect_device_memory(PROT_READ | PROT_WRITE);
  }
}

Memory::Access::~Access() {
  if (--memory_.accesses_ == 0) {
    memory_.protect_device_memory(PROT_NONE);
  }
}

} // namespace diffbench::emulation
