// SPDX-License-Identifier: Apache-2.0
// The values that a field may begin with.
#pragma once

#include <limits>

namespace diffbench {

/// Up to here neither 4u nor a sum of a step overflows: |lap| <= 8 |u|, and a stable scheme keeps
/// the largest |u|. Beyond max/4 NumPy's 4u is infinite, while backends that compute s - 4u with
/// one rounding (fma) go on with finite numbers.
template <typename T>
inline constexpr T largest_value = std::numeric_limits<T>::max() / 8;

} // namespace diffbench
