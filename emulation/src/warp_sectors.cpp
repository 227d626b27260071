// SPDX-License-Identifier: Apache-2.0
#include "warp_sectors.hpp"

#include <algorithm>

namespace diffbench::emulation {

void WarpSectors::note(std::size_t thread, std::uint64_t site, std::uintptr_t address,
                       std::size_t bytes, bool writes) {
  warps_.resize(std::max(warps_.size(), thread / 32 + 1));
  std::vector<Instruction>& warp = warps_[thread / 32];
  auto own = std::find_if(warp.begin(), warp.end(), [&](const Instruction& one) {
    return one.site == site && one.writes == writes;
  });
  if (own == warp.end()) {
    own = warp.insert(own, Instruction{site, writes, {}, {}});
  }
  const std::size_t execution = own->times[thread % 32]++;
  own->executions.resize(std::max(own->executions.size(), execution + 1));
  std::vector<std::uintptr_t>& sectors = own->executions[execution];
  for (std::uintptr_t sector = address / sector_bytes;
       sector <= (address + bytes - 1) / sector_bytes; ++sector) {
    if (std::find(sectors.begin(), sectors.end(), sector) == sectors.end()) {
      sectors.push_back(sector);
    }
  }
}

std::array<std::int64_t, 2> WarpSectors::moved() const {
  std::array<std::int64_t, 2> bytes{};
  for (const std::vector<Instruction>& warp : warps_) {
    for (const Instruction& one : warp) {
      for (const std::vector<std::uintptr_t>& sectors : one.executions) {
        bytes[one.writes ? 1 : 0] += static_cast<std::int64_t>(sectors.size() * sector_bytes);
      }
    }
  }
  return bytes;
}

} // namespace diffbench::emulation
