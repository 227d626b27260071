// SPDX-License-Identifier: Apache-2.0
// In the place of the header of that name of NVIDIA's samples.

#include <helper_timer.h>
