// SPDX-License-Identifier: Apache-2.0
// What becomes of a submission, whatever its form, before it is run: a shared object.
#pragma once

#include "diffbench/name_table.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// The forms of diffbench_try.h, the widest first.
enum class Form { session, solve, step };
inline constexpr NameTable<Form, 3> form_names{
    "form", {{{Form::session, "session"}, {Form::solve, "solve"}, {Form::step, "step"}}}};
[[nodiscard]] constexpr std::string_view to_string(Form form) { return form_names.name(form); }

/// `library` has the functions of diffbench_try.h or, of a CPU's, those of C or C++ that it
/// describes. Where CUDA was emulated it is linked with the emulated device beside it, which
/// exports
///   const char* diffbench_try_findings();  JSON: [{"kind", "message", "file", "line", ...}]
///   const char* diffbench_try_counts();    JSON: what the calls and kernels have moved and done
/// both valid until their next call.
struct CompiledSubmission {
  std::filesystem::path library;
  std::string command;      ///< the compiler's, as a shell has it; empty: it was compiled already
  bool has_session = false; ///< exports a session, whatever form the file has
  std::vector<std::string> interpreter =
      {}; ///< the command that runs `library`; empty: a child does
};

} // namespace diffbench::bench
