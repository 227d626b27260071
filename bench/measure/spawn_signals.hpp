// SPDX-License-Identifier: Apache-2.0
// The signals of a program that this one starts (posix_spawn(3)).
#pragma once

#include <csignal>

#include <spawn.h>

namespace diffbench::bench {

/// None is blocked and none is ignored, whatever this program does with them. Sets the flags, too:
/// `others`, and those that this needs.
inline void set_default_signals(posix_spawnattr_t& attributes, short others) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(others | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

} // namespace diffbench::bench
