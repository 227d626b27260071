// SPDX-License-Identifier: Apache-2.0
// Drop-in for the CUDA runtime's header, for a host compiler: the part of the runtime and of CUDA
// C++ that this project uses, carried out on the CPU. docs/testing-without-a-gpu.md says what it
// finds.
//
// Names, values and signatures are those of CUDA 13 (CUDA Runtime API reference, CUDA C++
// Programming Guide). Deliberately absent, so that using it does not compile: cudaLaunchKernelExC
// (it erases the types of the arguments), textures, inline PTX, and but for a user's code, which is
// translated before it is compiled (emulation/user_code.h), chevrons, __shared__ and __constant__
// variables.
#pragma once

#define DIFFBENCH_EMULATED_CUDA 1
#define CUDART_VERSION 13000

#include "emulation/device_code.h"
#include "emulation/host_api.h"
#if defined(DIFFBENCH_USER_CODE)
#include "emulation/program_calls.h"
#include "emulation/user_code.h"
#else
#include "emulation/kernel_launch.h"
#endif
