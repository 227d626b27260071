// SPDX-License-Identifier: Apache-2.0
#include "line_table.hpp"

#include "elf_section.hpp"

#include <algorithm>
#include <cstring>

namespace diffbench::emulation {
namespace {

// Values of a section, one after the other; zeros behind its end.
class Reader {
 public:
  Reader(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

  template <typename T>
  T take() {
    T value{};
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      at_ = end_;
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t unsigned_number() { // LEB128
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ < end_ && shift < 64; shift += 7) {
      const std::uint8_t byte = *at_++;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80u) == 0) {
        break;
      }
    }
    return value;
  }
  std::int64_t signed_number() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0x80;
    while (at_ < end_ && shift < 64 && (byte & 0x80u) != 0) {
      byte = *at_++;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40u) != 0) {
      value |= ~std::uint64_t{0} << shift;
    }
    return static_cast<std::int64_t>(value);
  }
  std::string text() {
    const std::uint8_t* const stop = std::find(at_, end_, std::uint8_t{0});
    std::string value(at_, stop);
    at_ = stop == end_ ? end_ : stop + 1;
    return value;
  }
  void skip(std::uint64_t bytes) { at_ += std::min<std::uint64_t>(bytes, left()); }
  [[nodiscard]] std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }
  [[nodiscard]] const std::uint8_t* at() const { return at_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// DW_LNS_*
constexpr std::uint8_t new_row = 1;
constexpr std::uint8_t advance_pc = 2;
constexpr std::uint8_t advance_line = 3;
constexpr std::uint8_t set_file = 4;
constexpr std::uint8_t const_add_pc = 8;
constexpr std::uint8_t fixed_advance_pc = 9;
// DW_LNE_*
constexpr std::uint8_t end_sequence = 1;
constexpr std::uint8_t set_address = 2;

} // namespace

LineTable::LineTable(const std::string& path) {
  const std::vector<std::uint8_t> section = section_named(path, ".debug_line");
  Reader reader(section.data(), section.data() + section.size());
  while (reader.left() > 4) {
    const std::uint64_t bytes =
        std::min<std::uint64_t>(reader.take<std::uint32_t>(), reader.left());
    read_unit(reader.at(), reader.at() + bytes);
    reader.skip(bytes);
  }
  // Where one function ends and the next begins, the end comes first.
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return a.address < b.address || (a.address == b.address && a.line == 0 && b.line != 0);
  });
}

void LineTable::read_unit(const std::uint8_t* unit, const std::uint8_t* end) {
  Reader header(unit, end);
  const auto version = header.take<std::uint16_t>();
  if (version < 2 || version > 4) {
    return;
  }
  const auto header_bytes = header.take<std::uint32_t>();
  Reader program(header.at(), end);
  program.skip(header_bytes);
  const auto unit_bytes = header.take<std::uint8_t>(); // of an instruction: 1 here
  if (version >= 4) {
    header.take<std::uint8_t>();
  }
  header.take<std::uint8_t>();
  const auto line_base = header.take<std::int8_t>();
  const auto line_range = header.take<std::uint8_t>();
  const auto opcode_base = header.take<std::uint8_t>();
  std::vector<std::uint8_t> operands(opcode_base);
  for (unsigned i = 1; i < opcode_base; ++i) {
    operands[i] = header.take<std::uint8_t>();
  }
  if (line_range == 0 || unit_bytes == 0) {
    return;
  }
  std::vector<std::string> folders = {""};
  for (std::string name = header.text(); !name.empty(); name = header.text()) {
    folders.push_back(name);
  }
  const std::uint32_t first_file = static_cast<std::uint32_t>(files_.size());
  files_.emplace_back();
  for (std::string name = header.text(); !name.empty(); name = header.text()) {
    const std::uint64_t folder = header.unsigned_number();
    header.unsigned_number();
    header.unsigned_number();
    const bool whole = name.front() == '/' || folder == 0 || folder >= folders.size();
    files_.push_back(whole ? name : folders[folder] + "/" + name);
  }

  Row row{0, 1, 1};
  const auto add_row = [&](int line) {
    const std::uint32_t file = first_file + row.file;
    rows_.push_back({row.address, file < files_.size() ? file : first_file, line});
  };
  const auto advance = [&](unsigned adjusted) {
    row.address += std::uint64_t{adjusted} / line_range * unit_bytes;
  };
  while (program.left() > 0) {
    const auto opcode = program.take<std::uint8_t>();
    if (opcode >= opcode_base) {
      const unsigned adjusted = opcode - opcode_base;
      advance(adjusted);
      row.line += line_base + static_cast<int>(adjusted % line_range);
      add_row(row.line);
    } else if (opcode == 0) {
      const std::uint64_t bytes = program.unsigned_number();
      Reader extended(program.at(), program.at() + std::min(bytes, program.left()));
      program.skip(bytes);
      const auto kind = extended.take<std::uint8_t>();
      if (kind == end_sequence) {
        add_row(0);
        row = {0, 1, 1};
      } else if (kind == set_address) {
        row.address = extended.take<std::uint64_t>();
      }
    } else if (opcode == new_row) {
      add_row(row.line);
    } else if (opcode == advance_pc) {
      row.address += program.unsigned_number() * unit_bytes;
    } else if (opcode == advance_line) {
      row.line += static_cast<int>(program.signed_number());
    } else if (opcode == set_file) {
      row.file = static_cast<std::uint32_t>(program.unsigned_number());
    } else if (opcode == const_add_pc) {
      advance(255u - opcode_base);
    } else if (opcode == fixed_advance_pc) {
      row.address += program.take<std::uint16_t>();
    } else {
      for (unsigned i = 0; i < operands[opcode]; ++i) {
        program.unsigned_number();
      }
    }
  }
}

CodeLine LineTable::find(std::uint64_t address,
                         const std::function<bool(const std::string&)>& of_user) const {
  auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                [](std::uint64_t a, const Row& row) { return a < row.address; });
  while (after != rows_.begin()) {
    --after;
    if (after->line == 0) {
      break; // the end of the function before
    }
    if (of_user(files_[after->file])) {
      return {files_[after->file], after->line};
    }
  }
  return {};
}

} // namespace diffbench::emulation
