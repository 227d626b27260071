// SPDX-License-Identifier: Apache-2.0
// What the emulation says of a user's code that has been translated for it (user_code.h).
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
/// What is wrong with the code: a JSON array, valid until the next call. What the code holds now
/// counts as a leak.
const char* diffbench_try_findings();
/// What the code has asked the device for since the last reset: a JSON object, valid until the next
/// call.
const char* diffbench_try_counts();
/// Starts anew, with another schedule. The code must not hold anything. Whoever calls it first
/// chooses the key, and a call with another one, such as the code's, is reported and does nothing.
void diffbench_try_reset(std::uint64_t seed, std::uint64_t key);
/// From the next reset on, kernels' sectors are counted, too, which takes time.
void diffbench_try_count_traffic();
/// A whole program begins, which may take so many seconds: its launches are watched in part.
/// `again`: not at all, and fresh memory holds something else; `backwards`: blocks come so, too.
void diffbench_try_program(double seconds, bool again, bool backwards);
/// It has ended, or its time has: what is to be said then goes to the file of findings.
void diffbench_try_program_ended(bool by_itself);
/// From now on launches are only checked: no kernel runs.
void diffbench_try_only_launches();
}

namespace diffbench::emulation::detail {

/// Sets all bytes to 0xff as cudaMemset() does, which the code has not asked for.
void poison_device(void* memory, std::size_t bytes);
/// A function of the user's that gives results has returned.
void solve_returned();
/// Something that the caller of such a function has found.
void report_entry(bool out_of_bounds, const char* message);

} // namespace diffbench::emulation::detail
