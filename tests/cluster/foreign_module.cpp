// SPDX-License-Identifier: Apache-2.0
// Modules as other builds have them. FOREIGN_BUILD: Older, which has no text; Newer, with another
// text; Grown, whose messages have become more.
#include "diffbench/cluster/module.hpp"

namespace {

using diffbench::cluster::Module;

/// Before modules had a text, this was all.
struct Older {
  const void* connect = nullptr;
  const void* checkpoint_files = nullptr;
};
struct Newer {
  Module module{.interface = "diffbench modules 1000, compiler none"};
};
struct Grown {
  Module module{
      .sizes = {sizeof(diffbench::cluster::HaloMessages) + 8, sizeof(diffbench::cluster::Place)}};
};

} // namespace

extern "C" [[gnu::visibility("default")]] const FOREIGN_BUILD diffbench_cluster_module;
extern "C" const FOREIGN_BUILD diffbench_cluster_module = {};
