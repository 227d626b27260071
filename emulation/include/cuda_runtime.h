// Drop-in for the CUDA runtime's header, for a host compiler: the part of the runtime and of CUDA
// C++ that this project uses, carried out on the CPU. docs/testing-without-a-gpu.md says what it
// finds.
//
// Names, values and signatures are those of CUDA 13 (CUDA Runtime API reference, CUDA C++
// Programming Guide). Deliberately absent, so that using it does not compile: chevrons, __shared__
// variables (use dynamic shared memory), __constant__ variables, cudaLaunchKernelExC (it erases the
// types of the arguments), textures, clusters, inline PTX.
#pragma once

#define DIFFBENCH_EMULATED_CUDA 1
#define CUDART_VERSION 13000

#include "emulation/device_code.h"
#include "emulation/host_api.h"
#include "emulation/kernel_launch.h"
