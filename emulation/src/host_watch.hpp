// SPDX-License-Identifier: Apache-2.0
// Whether accesses by the host's own code are looked at, where that code says what it accesses.
#pragma once

namespace diffbench::emulation {

inline constinit bool host_is_watched = false;
inline void watch_host(bool on) { host_is_watched = on; }

} // namespace diffbench::emulation
