// SPDX-License-Identifier: Apache-2.0
// What a registry lists: the parts of one kind, backends or engines, that a build has, and those
// that it left out. CMake generates the tables from the files of a folder
// (cmake/DiffbenchRegistry.cmake).
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/execution.hpp"
#include "diffbench/known_names.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace diffbench {

/// Bytes that a session will hold, not counting the caller's own fields.
struct MemoryNeed {
  std::int64_t host = 0;
  std::int64_t device = 0;
};

/// What it is, whether it can run here, and how to make a Product<T> for a Subject: a Session<T>
/// for a Problem, an Engine<T> for a Training.
template <typename Subject, template <typename> typename Product>
struct RegistryEntry {
  template <typename T>
  using Make = std::unique_ptr<Product<T>> (*)(const Subject&, const SessionOptions&);

  /// The maker of a Part, a Product<T> whose constructor takes the same. Part is a type, not a
  /// template: GCC gives an instance for a template out of an anonymous namespace external linkage,
  /// and of two files with classes of one name the linker would keep one.
  template <typename Part, typename T>
  [[nodiscard]] static std::unique_ptr<Product<T>> construct(const Subject& subject,
                                                             const SessionOptions& options) {
    return std::make_unique<Part>(subject, options);
  }

  std::string_view name;        ///< as the file is called
  std::string_view description; ///< one line
  DeviceKind device = DeviceKind::cpu;
  bool threaded = false; ///< honours SessionOptions::threads
  bool has_isa = false;  ///< honours SessionOptions::isa
  int ladder = 0;        ///< order in lists and tables, the naive ones first
  bool teaching = false; ///< slow, and there to show why: runs only where it is asked for
  /// Whether it can run on the device of that index (0 for a CPU's, which ignores it); cheap, never
  /// throws.
  Probe (*probe)(int device) noexcept = always_available;
  MemoryNeed (*memory_need)(const Subject&, const SessionOptions&) = nullptr; ///< of every backend
  Make<float> make_float32 = nullptr;
  Make<double> make_float64 = nullptr;

  /// The maker for T. Makers expect a validated subject; they throw Error: Unavailable, with the
  /// figures, for one that another entry can take.
  template <typename T>
  [[nodiscard]] Make<T> make() const {
    if constexpr (std::is_same_v<T, float>) {
      return make_float32;
    } else {
      return make_float64;
    }
  }
};

/// A part that the project has and this build left out.
struct NotCompiled {
  std::string_view name;
  std::string_view how_to_get; ///< the build option that brings it
};

/// The entries by RegistryEntry::ladder, then by name.
template <typename Entry>
[[nodiscard]] std::vector<Entry> naive_first(std::vector<Entry> entries) {
  std::ranges::sort(entries, {},
                    [](const Entry& entry) { return std::tuple(entry.ladder, entry.name); });
  return entries;
}

/// The entry of that name; `kind` is what messages call it, `is_not_compiled` what they say before
/// NotCompiled::how_to_get. Throws InvalidInput, listing the valid names, for a name that the
/// project does not know, and Unavailable, with the reason, for one that is not compiled or whose
/// probe of `device` fails.
template <typename Entry>
[[nodiscard]] Entry require_entry(const std::string& kind, const std::vector<Entry>& compiled,
                                  const std::vector<NotCompiled>& missing,
                                  std::string_view is_not_compiled, std::string_view name,
                                  int device) {
  const std::string named = kind + " '" + std::string(name) + "' ";
  for (const Entry& entry : compiled) {
    if (entry.name == name) {
      if (const Probe probe = entry.probe(device); !probe.available) {
        throw Unavailable(named + "is not available: " + probe.reason);
      }
      return entry;
    }
  }
  for (const NotCompiled& entry : missing) {
    if (entry.name == name) {
      throw Unavailable(named + std::string(is_not_compiled) + std::string(entry.how_to_get));
    }
  }
  throw unknown_name(kind, name, names_in(compiled));
}

} // namespace diffbench
