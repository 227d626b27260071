// SPDX-License-Identifier: Apache-2.0
// Of a program that is tried; no profiler is there.
#pragma once

#include <cuda_runtime.h>

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
