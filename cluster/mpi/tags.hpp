// SPDX-License-Identifier: Apache-2.0
// Which message is which, between two ranks. Messages of one tag arrive in the order of sending.
#pragma once

namespace diffbench::cluster::tags {

inline constexpr int up = 1;           ///< halos for the rank above
inline constexpr int down = 2;         ///< halos for the rank below
inline constexpr int other = 3;        ///< Transport::send
inline constexpr int sign_of_life = 4; ///< of rank 0

} // namespace diffbench::cluster::tags
