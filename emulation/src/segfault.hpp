// SPDX-License-Identifier: Apache-2.0
// Names the bug behind a fault on memory that the emulation guards, before the process dies of it.
#pragma once

namespace diffbench::emulation {

/// Idempotent. Passes every fault on to the handler that was there before.
void install_segfault_handler();

} // namespace diffbench::emulation
