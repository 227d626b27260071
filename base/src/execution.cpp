#include "diffbench/execution.hpp"

#include "diffbench/known_names.hpp"

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

std::string_view to_string(DeviceKind device) {
  switch (device) {
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::cuda: return "cuda";
    case DeviceKind::emulated: return "emulated";
  }
  return "unknown";
}

std::string_view to_string(Transfer transfer) {
  for (const auto& [known, name] : names) {
    if (known == transfer) {
      return name;
    }
  }
  return "?";
}

Transfer parse_transfer(std::string_view name) {
  std::vector<std::string> valid;
  for (const auto& [transfer, known] : names) {
    if (known == name) {
      return transfer;
    }
    valid.emplace_back(known);
  }
  throw unknown_name("transfer", name, valid);
}

Probe always_available(int /*device*/) noexcept { return {}; }

} // namespace diffbench
