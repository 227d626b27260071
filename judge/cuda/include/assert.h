// SPDX-License-Identifier: Apache-2.0
// In place of the C library's for users' .cu files: an assertion of a kernel that does not hold is
// told with its block and thread, as a card does, and ends the kernel and not the process. Included
// again it means what NDEBUG then says, as the standard has it.
#undef assert

#include <emulation/user_calls.h>

#if defined(NDEBUG)
#define assert(condition) (static_cast<void>(0))
#else
#define assert(condition)        \
  (static_cast<bool>(condition)  \
       ? static_cast<void>(0)    \
       : ::diffbench::emulation::detail::assertion_failed(#condition, {__FILE__, __LINE__}))
#endif
