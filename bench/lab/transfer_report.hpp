// What `diffbench transfer` shows, of a run as of a recorded file.
#pragma once

#include "transfer_result.hpp"

#include <string>

namespace diffbench::bench {

// Tables; each ends with an end of line.
[[nodiscard]] std::string format_host_copies(const HostCopies& host);
[[nodiscard]] std::string format_device_copies(const DeviceCopies& device);

/// Both, or the host's alone with the reason.
[[nodiscard]] std::string format_transfer(const TransferResult& result);

/// What the tables show, without the end of line.
[[nodiscard]] std::string transfer_sentence(const TransferResult& result);

} // namespace diffbench::bench
