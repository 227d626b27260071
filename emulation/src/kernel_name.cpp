// SPDX-License-Identifier: Apache-2.0
#include "kernel_name.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

namespace diffbench::emulation {
namespace {

template <typename T>
std::vector<T> read_table(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<T> table(bytes / sizeof(T));
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(table.data()),
            static_cast<std::streamsize>(table.size() * sizeof(T)));
  return file ? table : std::vector<T>();
}

// The name of the function at `address` of an ELF file, as it is linked; empty when there is none.
std::string symbol_at(const std::string& path, std::uint64_t address) {
  std::ifstream file(path, std::ios::binary);
  const auto headers = read_table<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr));
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0) {
    return {};
  }
  const auto sections =
      read_table<Elf64_Shdr>(file, headers[0].e_shoff, headers[0].e_shnum * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) {
      continue;
    }
    const Elf64_Shdr& strings = sections[section.sh_link];
    auto names = read_table<char>(file, strings.sh_offset, strings.sh_size);
    names.push_back('\0');
    for (const auto& symbol : read_table<Elf64_Sym>(file, section.sh_offset, section.sh_size)) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == address &&
          symbol.st_name < names.size()) {
        return &names[symbol.st_name];
      }
    }
  }
  return {};
}

std::string find_name(const void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0) {
    return "unnamed";
  }
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  // An executable that is not position-independent is linked at its addresses.
  std::string symbol = symbol_at(info.dli_fname, address - base);
  for (const std::uintptr_t linked : {address - base, address}) {
    if (symbol.empty()) {
      symbol = symbol_at("/proc/self/exe", linked);
    }
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : symbol.empty() ? "unnamed" : symbol;
}

std::map<const void*, std::string> known;

} // namespace

void name_kernel(const void* function, const std::string& name) { known[function] = name; }

std::string kernel_name(const void* function) {
  const auto [entry, is_new] = known.try_emplace(function);
  if (is_new) {
    entry->second = find_name(function);
  }
  return entry->second;
}

} // namespace diffbench::emulation
