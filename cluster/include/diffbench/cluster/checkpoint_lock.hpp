// SPDX-License-Identifier: Apache-2.0
// One run at a time writes a checkpoint: a lock on a hidden file beside it (.NAME.lock), which says
// who has it. The system gives it up when that process ends, however it ends: a file that a killed
// run has left locks nothing.
#pragma once

#include <filesystem>

namespace diffbench::cluster {

class CheckpointLock {
 public:
  /// Throws Error, naming process and machine, where another run has it. A file system that cannot
  /// lock (Lustre without flock) gives no protection.
  explicit CheckpointLock(const std::filesystem::path& checkpoint);
  CheckpointLock(const CheckpointLock&) = delete;
  CheckpointLock& operator=(const CheckpointLock&) = delete;
  ~CheckpointLock();

 private:
  std::filesystem::path name_; ///< absolute: the run may change its folder
  int file_ = -1;
};

} // namespace diffbench::cluster
