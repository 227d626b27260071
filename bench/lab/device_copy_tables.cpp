#include "transfer_report.hpp"

namespace diffbench::bench {

std::string format_device_copies(const DeviceCopies& device) {
  return "copies between the host and " + device.name + "\n";
}

} // namespace diffbench::bench
