// SPDX-License-Identifier: Apache-2.0
// Programs that keep the machine busy on purpose.
#pragma once

#include <sys/types.h>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// "loop", "loops", "bursts", "copies".
[[nodiscard]] std::vector<std::string> load_names();
/// "one busy loop": what such a load is. Throws InvalidInput where there is none.
[[nodiscard]] std::string load_text(std::string_view name);

/// A load of that name from its making on; it ends with this object, and soon after this process.
/// No child of this process, which takes its children for itself (LoadWatch). Throws Error where it
/// cannot be started.
class BesideLoad {
 public:
  explicit BesideLoad(std::string_view name);
  BesideLoad(const BesideLoad&) = delete;
  BesideLoad& operator=(const BesideLoad&) = delete;
  ~BesideLoad();

 private:
  std::vector<pid_t> groups_; ///< of processes
};

} // namespace diffbench::bench
