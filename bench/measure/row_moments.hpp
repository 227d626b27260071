// SPDX-License-Identifier: Apache-2.0
// What --trace saw of a row's first runs: plain data.
#pragma once

#include <string>
#include <vector>

namespace diffbench::bench {

/// The host or an engine of a device was at something.
struct Moment {
  std::string lane;  ///< "host", "h2d", "compute", "d2h"
  std::string phase; ///< as in the ledger
  double begin = 0;  ///< seconds from the beginning of the run
  double end = 0;
};

/// In the order of their begins; the first of each run only, as a run may have millions. Empty:
/// there was no such run.
struct RowMoments {
  std::vector<Moment> cold = {};
  std::vector<Moment> warm = {};
};

} // namespace diffbench::bench
