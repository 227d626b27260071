// SPDX-License-Identifier: Apache-2.0
// Of a program that is tried; what it needs of it is in the runtime's header.

#include <cuda_runtime.h>
