// SPDX-License-Identifier: Apache-2.0
// What is used of the types of NVIDIA's management library, from the NVML API reference manual: the
// library is loaded at run time and its interface is stable C, so its header is not needed.
#pragma once

namespace diffbench::bench::nvml {

/// In percent.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};

/// In bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

} // namespace diffbench::bench::nvml
