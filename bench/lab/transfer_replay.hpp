// A recorded result of `diffbench transfer`, shown again.
#pragma once

#include <filesystem>
#include <string>

namespace diffbench::bench {

/// The tables and the sentence of the recorded file, under a stamp that says which machine it was,
/// when, and that nothing was measured here. Throws InvalidInput (one line that names the file)
/// for what is no result of this experiment.
[[nodiscard]] std::string replay_transfer(const std::filesystem::path& file);

} // namespace diffbench::bench
