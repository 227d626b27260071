// SPDX-License-Identifier: Apache-2.0
#include "foreign_access.hpp"

#include "code_site.hpp"
#include "grid.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <string>

#include <sys/mman.h>

namespace diffbench::emulation {
namespace {

struct Foreign {
  FindingKind kind;
  std::string text;
};

std::string offset_text(const void* address, const Buffer& buffer) {
  return "byte " + std::to_string(static_cast<const std::byte*>(address) - buffer.data) + " of " +
         buffer.description();
}

bool is_mapped(const void* address) {
  const auto page = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{4095};
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(page), 1, &resident) == 0;
}

Foreign foreign_memory(const void* address) {
  if (const std::string shared = beside_shared_memory(address); !shared.empty()) {
    return {FindingKind::out_of_bounds, shared};
  }
  if (const Buffer* const buffer = runtime().memory.near(address)) {
    return {buffer->freed ? FindingKind::use_after_free : FindingKind::out_of_bounds,
            offset_text(address, *buffer) + (buffer->freed ? ", which was freed" : "")};
  }
  if (reinterpret_cast<std::uintptr_t>(address) < 4096) {
    return {FindingKind::out_of_bounds, "a null pointer"};
  }
  if (is_host_variable(address)) {
    return {FindingKind::device_touches_host,
            "a variable of the host (one of the device is marked __device__ or __constant__)"};
  }
  if (in_user_image(address)) {
    return {FindingKind::out_of_bounds, "memory beside the program's variables"};
  }
  if (const Buffer* const below = runtime().memory.below(address); below != nullptr && !is_mapped(address)) {
    return {FindingKind::out_of_bounds, offset_text(address, *below)};
  }
  return {FindingKind::device_touches_host,
          "memory that is the host's, or nobody's: no call of the runtime handed it out"};
}

} // namespace

void check_foreign_access(const void* address, std::size_t bytes, bool writes, std::uint64_t site) {
  if (on_current_stack(address)) {
    return;
  }
  const bool constant = in_user_image(address) && !is_host_variable(address) &&
                        !is_device_variable(address) && !writes;
  if (constant) {
    return;
  }
  const auto* const last = static_cast<const std::byte*>(address) + bytes - 1;
  // One that begins inside ends outside.
  const bool inside = runtime().memory.find(address, 1) != nullptr;
  const Foreign why = foreign_memory(inside ? last : address);
  fail_current_thread(
      why.kind, std::string(writes ? "writes" : "reads") + " at " + line_of(site) + " " + why.text,
      code_line_of(site));
}

} // namespace diffbench::emulation
