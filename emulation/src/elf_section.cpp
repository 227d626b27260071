// SPDX-License-Identifier: Apache-2.0
#include "elf_section.hpp"

#include <cstring>
#include <fstream>

#include <elf.h>

namespace diffbench::emulation {

namespace {

// Empty where the file does not have them.
template <typename T>
std::vector<T> read_at(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes) {
  file.seekg(0, std::ios::end);
  const auto end = static_cast<std::uint64_t>(file.tellg());
  if (!file || offset > end || bytes > end - offset) {
    return {};
  }
  std::vector<T> read(bytes / sizeof(T));
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(read.data()),
            static_cast<std::streamsize>(read.size() * sizeof(T)));
  return file ? read : std::vector<T>();
}

} // namespace

std::vector<std::uint8_t> section_named(const std::string& path, const std::string& name) {
  std::ifstream file(path, std::ios::binary);
  const auto headers = read_at<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr));
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0) {
    return {};
  }
  const auto sections =
      read_at<Elf64_Shdr>(file, headers[0].e_shoff, headers[0].e_shnum * sizeof(Elf64_Shdr));
  if (headers[0].e_shstrndx >= sections.size()) {
    return {};
  }
  const Elf64_Shdr& of_names = sections[headers[0].e_shstrndx];
  auto names = read_at<char>(file, of_names.sh_offset, of_names.sh_size);
  names.push_back('\0');
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name < names.size() && name == &names[section.sh_name] &&
        section.sh_type != SHT_NOBITS) {
      return read_at<std::uint8_t>(file, section.sh_offset, section.sh_size);
    }
  }
  return {};
}

} // namespace diffbench::emulation
