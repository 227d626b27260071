// Names of the ways in which the host's side of copies is held.
#include "diffbench/backend.hpp"

#include "diffbench/errors.hpp"

#include <array>
#include <string>
#include <utility>

namespace diffbench {

namespace {

constexpr std::array<std::pair<Transfer, std::string_view>, 6> names = {{
    {Transfer::pageable, "pageable"},
    {Transfer::pinned, "pinned"},
    {Transfer::registered, "registered"},
    {Transfer::write_combined, "write-combined"},
    {Transfer::mapped, "mapped"},
    {Transfer::managed, "managed"},
}};

} // namespace

std::string_view to_string(Transfer transfer) {
  for (const auto& [known, name] : names) {
    if (known == transfer) {
      return name;
    }
  }
  return "?";
}

Transfer parse_transfer(std::string_view name) {
  std::string valid;
  for (const auto& [transfer, known] : names) {
    if (known == name) {
      return transfer;
    }
    valid += (valid.empty() ? "" : ", ") + std::string(known);
  }
  throw InvalidInput("unknown transfer '" + std::string(name) + "'; valid: " + valid);
}

} // namespace diffbench
