// SPDX-License-Identifier: Apache-2.0
// A user's file: its language, its forms, and how it becomes something that runs.
#pragma once

#include "compiled_submission.hpp"
#include "diffbench/problem.hpp"
#include "host_compiler.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

enum class Language { c, cpp, cuda, python, library };
inline constexpr NameTable<Language, 5> language_names{"language",
                                                       {{{Language::c, "C"},
                                                         {Language::cpp, "C++"},
                                                         {Language::cuda, "CUDA"},
                                                         {Language::python, "Python"},
                                                         {Language::library, "shared library"}}}};
[[nodiscard]] constexpr std::string_view to_string(Language language) {
  return language_names.name(language);
}

/// What functions of a file are to be like.
inline constexpr std::string_view step_form =
    "void step(const float* u, float* out, int nx, int ny, float factor)";
inline constexpr std::string_view solve_form =
    "void solve(const float* in, float* out, int nx, int ny, int steps, float factor)";

/// By the end of its name; empty where that is not known.
[[nodiscard]] std::optional<Language> known_language(const std::filesystem::path& file);
/// By the end of its name. Throws InvalidInput, with the ends that are known.
[[nodiscard]] Language language_of(const std::filesystem::path& file);

/// What runs, in which form and for which dtypes.
struct Submission {
  CompiledSubmission compiled = {};
  /// Of C and C++ with threads: without optimization, and threads come in any order (interleave.c).
  std::optional<CompiledSubmission> for_races = {};
  Language language = Language::cpp;
  Form form = Form::step;
  std::vector<Dtype> dtypes = {};     ///< one at least
  std::vector<Form> other_forms = {}; ///< narrower ones, which are not taken
};

/// Another user's process loads what lies there.
void let_others_read(const std::filesystem::path& path);

/// What a file has of one form.
struct FoundForm {
  Form form;
  std::vector<Dtype> dtypes;
};
/// The widest of `found`, which comes first, or `wanted`; nothing is compiled. Throws InvalidInput,
/// with `why_none` where there is none.
[[nodiscard]] Submission take(Language language, const std::vector<FoundForm>& found,
                              std::optional<Form> wanted, const std::string& why_none);

/// Compiles `file`, or copies what needs no compiler, into `work_dir`, and finds its forms. The
/// widest is taken, or `wanted`. Throws InvalidInput (no such file, the compiler's words, no form
/// that is known: with the one that comes nearest) and Unavailable (no compiler).
[[nodiscard]] Submission prepare(const std::filesystem::path& file, std::optional<Form> wanted,
                                 const CompilerChoice& choice,
                                 const std::filesystem::path& work_dir);

} // namespace diffbench::bench
