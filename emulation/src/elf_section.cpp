// SPDX-License-Identifier: Apache-2.0
#include "elf_section.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>

namespace diffbench::emulation {

std::vector<std::uint8_t> section_named(const std::string& path, const std::string& name) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> file((std::istreambuf_iterator<char>(stream)), {});
  const auto piece = [&file](std::uint64_t offset, std::uint64_t bytes) {
    const bool inside = offset <= file.size() && bytes <= file.size() - offset;
    return inside ? file.data() + offset : nullptr;
  };
  Elf64_Ehdr header{};
  if (piece(0, sizeof header) == nullptr) {
    return {};
  }
  std::memcpy(&header, file.data(), sizeof header);
  const char* const table = piece(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || table == nullptr ||
      header.e_shstrndx >= header.e_shnum) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), table, sections.size() * sizeof(Elf64_Shdr));
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  for (const Elf64_Shdr& section : sections) {
    const char* const its_name = section.sh_name < names.sh_size
                                     ? piece(names.sh_offset + section.sh_name, name.size() + 1)
                                     : nullptr;
    const char* const data = piece(section.sh_offset, section.sh_size);
    if (its_name != nullptr && data != nullptr && section.sh_type != SHT_NOBITS &&
        std::memcmp(its_name, name.c_str(), name.size() + 1) == 0) {
      return {data, data + section.sh_size};
    }
  }
  return {};
}

} // namespace diffbench::emulation
