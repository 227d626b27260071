// SPDX-License-Identifier: Apache-2.0
// The emulation has the runtime's two headers in one.

#include <cuda_runtime.h>
