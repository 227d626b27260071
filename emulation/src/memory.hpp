// SPDX-License-Identifier: Apache-2.0
// The memory that the runtime hands out.
//
// Each buffer is a mapping of its own: a page that faults, the buffer, a page that faults; the
// buffer ends as close to the page behind it as its alignment lets it, and the gaps are closed
// zones (canary.hpp). Device memory is inaccessible except while the device works, so that the host
// meets a fault when it touches it; so is managed memory that a kernel was given which has not run.
// What was freed stays mapped and inaccessible until the reset, so an address never comes back. A
// handler of SIGSEGV says which of these happened before the process dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::emulation {

enum class MemoryKind {
  device,
  pinned,
  managed,
  registered, ///< the host's, page-locked
  variables,  ///< of the device, in the program
  constants,
  managed_variables, ///< the host's and the device's, in the program
};

struct Buffer {
  MemoryKind kind{};
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  std::int64_t made_by_call = 0;
  std::uint64_t made_at = 0;    ///< site, of a user's code
  std::string name = {};        ///< in the user's code; empty: not known
  std::span<std::byte> mapping; ///< both pages that fault included; empty for what is not our own
  bool freed = false;
  int users = 0; ///< kernels that were given it and have not run; of managed memory only

  [[nodiscard]] std::string description() const;
};

/// Of the memory that this thread allocates next; empty: not known.
inline thread_local std::string next_name;

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  /// All bytes 0xff. Null when the host has no memory.
  [[nodiscard]] void* allocate(MemoryKind kind, std::size_t bytes, int device, std::int64_t call);
  /// Notes a range of the caller's as page-locked.
  void enlist(void* data, std::size_t bytes, int device, std::int64_t call);
  /// Notes variables of the device, which the program has.
  void enlist_variables(std::span<std::byte> bytes, MemoryKind kind);
  /// Frees what begins at `data`; what was written outside it, or nothing.
  std::optional<std::string> release(void* data);

  /// The live buffer that holds [data, data + bytes), or touches it when `bytes` is 0.
  [[nodiscard]] const Buffer* find(const void* data, std::size_t bytes) const;
  /// The buffer, live or freed, in or round which `data` lies.
  [[nodiscard]] const Buffer* near(const void* data) const;
  [[nodiscard]] const std::map<const std::byte*, Buffer>& live() const { return live_; }
  [[nodiscard]] std::size_t bytes_on(int device) const;
  [[nodiscard]] bool has_managed() const;

  /// What a kernel wrote in the closed zones; empty: nothing. (The address sanitizer stops the
  /// process at the access itself.)
  [[nodiscard]] std::string overwritten() const;

  /// Closes the managed memory at these addresses to the host until they are released as often.
  /// Others are ignored.
  void occupy(const std::vector<const void*>& pointers);
  void release_use(const std::vector<const void*>& pointers);

  /// Lets device memory be accessed, while it lives. May be nested.
  class Access {
   public:
    explicit Access(Memory& memory);
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;
    ~Access();

   private:
    Memory& memory_;
  };

 private:
  void protect_device_memory(int protection);
  Buffer* managed_at(const void* data);
  void protect(const Buffer& buffer, int protection);

  std::map<const std::byte*, Buffer> live_;
  std::vector<Buffer> freed_;
  int accesses_ = 0;
};

} // namespace diffbench::emulation
