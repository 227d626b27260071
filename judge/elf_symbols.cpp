// SPDX-License-Identifier: Apache-2.0
// The format is that of the System V ABI, chapters 4 and 5.
#include "elf_symbols.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <elf.h>

namespace diffbench::bench {

namespace {

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  [[nodiscard]] bool is_library() const { return at<Elf64_Ehdr>(0).e_type == ET_DYN; }

  [[nodiscard]] std::vector<ElfSymbol> symbols() const {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        (header.e_type != ET_DYN && header.e_type != ET_REL)) {
      refuse();
    }
    std::vector<ElfSymbol> symbols;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      const auto section = section_at(header, i);
      if (section.sh_type != (is_library() ? SHT_DYNSYM : SHT_SYMTAB)) {
        continue;
      }
      const auto strings = section_at(header, section.sh_link);
      for (std::size_t entry = 0; entry < section.sh_size / sizeof(Elf64_Sym); ++entry) {
        const auto symbol = at<Elf64_Sym>(section.sh_offset + entry * sizeof(Elf64_Sym));
        symbols.push_back({.name = text_at(strings.sh_offset + symbol.st_name),
                           .defined = symbol.st_shndx != SHN_UNDEF,
                           .function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
                           .weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK});
      }
    }
    return symbols;
  }

  [[noreturn]] void refuse() const {
    throw InvalidInput(
        fmt::format("{} is no shared library for 64 bits (ELF)", path_.filename().string()));
  }

 private:
  template <typename Part>
  [[nodiscard]] Part at(std::size_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Part)) {
      refuse();
    }
    Part part;
    std::memcpy(&part, bytes_.data() + offset, sizeof(Part));
    return part;
  }
  [[nodiscard]] Elf64_Shdr section_at(const Elf64_Ehdr& header, std::size_t index) const {
    return at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  }
  [[nodiscard]] std::string text_at(std::size_t offset) const {
    const auto begin =
        bytes_.begin() + static_cast<std::ptrdiff_t>(std::min(offset, bytes_.size()));
    return {begin, std::find(begin, bytes_.end(), '\0')};
  }

  std::filesystem::path path_;
  std::vector<char> bytes_;
};

} // namespace

std::vector<ElfSymbol> elf_symbols(const std::filesystem::path& file) {
  return ElfFile(file).symbols();
}

std::vector<std::string> exported_functions(const std::filesystem::path& library) {
  const ElfFile file(library);
  std::vector<std::string> names;
  for (ElfSymbol& symbol : file.symbols()) {
    if (symbol.defined && symbol.function) {
      names.push_back(std::move(symbol.name));
    }
  }
  if (!file.is_library()) {
    file.refuse();
  }
  return names;
}

} // namespace diffbench::bench
