// SPDX-License-Identifier: Apache-2.0
// A whole program of a user's: it runs as long as it may, and its launches are watched in part.
//
// The first launch of a kernel is watched as a whole, if it is not too large; later ones ever more
// rarely, and fewer blocks of them. All of it is counted in accesses to memory and not in time, so
// that equal programs are watched equally.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace diffbench::emulation {

/// Has a program begun (diffbench_try_program)?
[[nodiscard]] bool is_program();
/// Has it taken the time that it may?
[[nodiscard]] bool past_deadline();
/// A copy has what fresh memory holds from where it was written.
void note_fresh_result();
/// By the copy's line, a sum of what it gave the host, as JSON; null where there is none that
/// tells.
[[nodiscard]] std::string copied_json();
/// Blocks that are not watched come the last one first.
[[nodiscard]] bool runs_backwards();
/// Says what was noticed, and ends the process.
[[noreturn]] void end_program();

/// How many accesses of a kernel's launch, the n-th from 1, are looked at.
[[nodiscard]] std::int64_t accesses_to_watch(std::int64_t n);
/// The host has been given these bytes by the copy at `site`. What of them fresh memory may hold is
/// left out.
void note_copied(const std::byte* data, std::size_t bytes, std::uint64_t site);
/// Whether so many bytes more of copies are looked at.
[[nodiscard]] bool watches_copy(std::size_t bytes);

} // namespace diffbench::emulation
