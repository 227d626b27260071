// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <thrust/emulated_thrust.h>
