// SPDX-License-Identifier: Apache-2.0
#include "user_image.hpp"

#include "code_site.hpp"
#include "line_table.hpp"
#include "race_detector.hpp"

#include <emulation/user_calls.h>

#include <algorithm>
#include <map>

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

namespace diffbench::emulation {
namespace {

bool contains(std::span<const std::byte> range, const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  return byte >= range.data() && byte < range.data() + range.size();
}

bool any_contains(const std::vector<std::span<const std::byte>>& parts, const void* address) {
  return std::any_of(parts.begin(), parts.end(),
                     [address](const auto& part) { return contains(part, address); });
}

struct Image {
  std::string path;
  std::uintptr_t base = 0;
  std::vector<std::span<const std::byte>> loaded;
  std::vector<std::span<const std::byte>> writable;
  std::span<const std::byte> written_once; // by the dynamic linker
  std::vector<std::string> files;
  std::vector<DeviceVariables> device_variables;
  LineTable lines;
  std::map<std::uint64_t, CodeLine> known;
};
Image* image = nullptr;

// Fills in the parts of the object that holds `image->base`.
int note_parts(dl_phdr_info* object, std::size_t, void*) {
  if (object->dlpi_addr != image->base) {
    return 0;
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::span<const std::byte> bytes{
        reinterpret_cast<const std::byte*>(object->dlpi_addr + part.p_vaddr), part.p_memsz};
    if (part.p_type == PT_LOAD) {
      image->loaded.push_back(bytes);
      if ((part.p_flags & PF_W) != 0) {
        image->writable.push_back(bytes);
      }
    } else if (part.p_type == PT_GNU_RELRO) {
      image->written_once = bytes;
    }
  }
  return 1;
}

int note_emulation(dl_phdr_info* object, std::size_t, void*) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0 &&
        reinterpret_cast<std::uintptr_t>(&image) - begin < part.p_memsz) {
      emulation_image.begin = begin;
      emulation_image.bytes = part.p_memsz;
      return 1;
    }
  }
  return 0;
}

using Frames = std::pair<std::size_t, std::uint64_t>; ///< to be skipped; what was found

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* frames) {
  const std::uintptr_t address = _Unwind_GetIP(frame);
  if (address == 0 || !in_user_image(reinterpret_cast<const void*>(address))) {
    return _URC_NO_REASON;
  }
  if (user_line(address - 1).line == 0) {
    return _URC_NO_REASON; // of the code that was added to the user's
  }
  auto& [skipped, site] = *static_cast<Frames*>(frames);
  site = skipped == 0 ? address - 1 : 0;
  return skipped-- == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

} // namespace

bool has_user_code() { return image != nullptr; }

CodeLine user_line(std::uint64_t address) {
  if (!in_user_image(reinterpret_cast<const void*>(address))) {
    return {};
  }
  const auto [entry, is_new] = image->known.try_emplace(address);
  if (is_new) {
    entry->second = image->lines.find(address - image->base, [](const std::string& file) {
      return std::find(image->files.begin(), image->files.end(), file) != image->files.end();
    });
    std::string& file = entry->second.file;
    file = file.substr(file.rfind('/') + 1); // npos + 1: all of it
  }
  return entry->second;
}

std::uint64_t call_site(std::size_t callers) {
  Frames found{callers, 0};
  if (image != nullptr) {
    _Unwind_Backtrace(look_at_frame, &found);
  }
  return found.second;
}

bool in_user_image(const void* address) {
  return image != nullptr && any_contains(image->loaded, address);
}

bool is_host_variable(const void* address) {
  return image != nullptr && !contains(image->written_once, address) &&
         !is_device_variable(address) && any_contains(image->writable, address);
}

const std::vector<DeviceVariables>& device_variables() {
  static const std::vector<DeviceVariables> none;
  return image == nullptr ? none : image->device_variables;
}

bool is_device_variable(const void* address) {
  const auto& all = device_variables();
  return std::any_of(all.begin(), all.end(), [address](const DeviceVariables& variables) {
    return contains(variables.bytes, address);
  });
}

bool is_variable_of_device_alone(const void* address) {
  const auto& all = device_variables();
  return std::any_of(all.begin(), all.end(), [address](const DeviceVariables& variables) {
    return variables.kind != MemoryKind::managed_variables && contains(variables.bytes, address);
  });
}

void detail::register_user_code(const UserCode& code) {
  Dl_info info{};
  void* map = nullptr;
  if (::dladdr1(code.files, &info, &map, RTLD_DL_LINKMAP) == 0) {
    return;
  }
  image = new Image; // which a program asks for to its end
  image->path = info.dli_fname;
  image->base = static_cast<const link_map*>(map)->l_addr;
  ::dl_iterate_phdr(note_parts, nullptr);
  ::dl_iterate_phdr(note_emulation, nullptr);
  RaceDetector::look_at_everything();
  for (const char* const* file = code.files; *file != nullptr; ++file) {
    image->files.emplace_back(*file);
  }
  const auto add = [](char* begin, char* end, MemoryKind kind) {
    if (begin != end) {
      image->device_variables.push_back(
          {{reinterpret_cast<std::byte*>(begin), static_cast<std::size_t>(end - begin)}, kind});
    }
  };
  add(code.device_begin, code.device_end, MemoryKind::variables);
  add(code.constant_begin, code.constant_end, MemoryKind::constants);
  add(code.managed_begin, code.managed_end, MemoryKind::managed_variables);
  image->lines = LineTable(image->path);
}

} // namespace diffbench::emulation
