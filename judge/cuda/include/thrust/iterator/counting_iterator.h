// SPDX-License-Identifier: Apache-2.0
#include <thrust/emulated_thrust.h>
