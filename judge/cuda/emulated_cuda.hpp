// SPDX-License-Identifier: Apache-2.0
// A user's .cu file as a shared object that needs no GPU: translated (translation.hpp), and
// compiled by the host's compiler against the emulated CUDA runtime (emulation/), which looks for
// mistakes.
#pragma once

#include "submission.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace diffbench::bench {

/// Compiles `source` into `work_dir` with the chosen compiler, whose flags are not those of
/// `choice`; takes `form`, or the widest one that the file has. A kernel `step` is launched in
/// blocks of the file's macros BLOCK_X and BLOCK_Y, else 16 x 16. The library exports the session
/// of diffbench_try.h for each of its types, whatever form the file has, and what
/// emulation/user_reports.h has. Throws InvalidInput: the compiler's message, what is not emulated,
/// would silence the device or may not be included, or that no form is there, each with the line.
/// Throws Unavailable where there is no compiler, or no emulation beside the program.
[[nodiscard]] Submission compile_emulated_cuda(const std::filesystem::path& source,
                                               std::optional<Form> form,
                                               const std::filesystem::path& work_dir,
                                               const CompilerChoice& choice = {});

/// A whole program, of .cu files and such of C++, as it is; its flags are besides those of
/// `choice`. The library has its main(). Throws as above.
[[nodiscard]] CompiledSubmission compile_emulated_program(
    const std::vector<std::filesystem::path>& sources, const std::filesystem::path& work_dir,
    const CompilerChoice& choice = {});

/// Whether the text has main(), or what looks like it.
[[nodiscard]] bool has_main(const std::filesystem::path& source);

} // namespace diffbench::bench
