// SPDX-License-Identifier: Apache-2.0
// The dynamic symbols of a shared object, read from the file alone: loading it would run its code
// here. The format is that of the System V ABI, chapters 4 and 5.
#include "submission.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>

namespace diffbench::bench {

namespace {

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  [[nodiscard]] std::vector<std::string> functions() const {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) {
      refuse();
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      const auto section = section_at(header, i);
      if (section.sh_type != SHT_DYNSYM) {
        continue;
      }
      const auto strings = section_at(header, section.sh_link);
      for (std::size_t entry = 0; entry < section.sh_size / sizeof(Elf64_Sym); ++entry) {
        const auto symbol = at<Elf64_Sym>(section.sh_offset + entry * sizeof(Elf64_Sym));
        if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
          names.push_back(text_at(strings.sh_offset + symbol.st_name));
        }
      }
    }
    return names;
  }

 private:
  [[noreturn]] void refuse() const {
    throw InvalidInput(
        fmt::format("{} is no shared library for 64 bits (ELF)", path_.filename().string()));
  }
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

std::vector<std::string> exported_functions(const std::filesystem::path& library) {
  return ElfFile(library).functions();
}

} // namespace diffbench::bench
