// SPDX-License-Identifier: Apache-2.0
#include "foreign_access.hpp"

#include "code_site.hpp"
#include "grid.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <string>

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

/// The memory at the kernel's argument that is nearest below the address, if it is of a card: what
/// was meant is there.
const Buffer* meant_memory(const void* address) {
  const void* nearest = nullptr;
  for (const void* const word : runtime().running_words) {
    nearest = word <= address && word > nearest ? word : nearest;
  }
  return nearest == nullptr ? nullptr : runtime().memory.find(nearest, 1);
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
  if (const Buffer* const meant = meant_memory(address)) {
    return {FindingKind::out_of_bounds, offset_text(address, *meant)};
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
