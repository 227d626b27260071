// SPDX-License-Identifier: Apache-2.0
// The program's exit codes.
#pragma once

namespace diffbench::bench {

inline constexpr int exit_ok = 0;
inline constexpr int exit_error = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_not_verified = 3;
inline constexpr int exit_unavailable = 4;
inline constexpr int exit_regression = 5;
inline constexpr int exit_interrupted = 130;

} // namespace diffbench::bench
