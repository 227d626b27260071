// SPDX-License-Identifier: Apache-2.0
// The emulation has the runtime's two headers in one.
#pragma once

#include <cuda_runtime.h>
