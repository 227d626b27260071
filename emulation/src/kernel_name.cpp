// SPDX-License-Identifier: Apache-2.0
#include "kernel_name.hpp"

#include "elf_section.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

namespace diffbench::emulation {
namespace {

// The name of the function at `address` of an ELF file, as it is linked; empty when there is none.
std::string symbol_at(const std::string& path, std::uint64_t address) {
  const std::vector<std::uint8_t> table = section_named(path, ".symtab");
  std::vector<std::uint8_t> names = section_named(path, ".strtab");
  names.push_back(0);
  Elf64_Sym symbol{};
  for (std::size_t at = 0; at + sizeof symbol <= table.size(); at += sizeof symbol) {
    std::memcpy(&symbol, table.data() + at, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == address &&
        symbol.st_name < names.size()) {
      return reinterpret_cast<const char*>(&names[symbol.st_name]);
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
