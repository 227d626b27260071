// SPDX-License-Identifier: Apache-2.0
// The system's compilers, for users' files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// How a file is compiled; empty: as usual.
struct CompilerChoice {
  std::string compiler; ///< a program
  std::string flags;    ///< words with spaces between, in place of the usual ones
  /// What a file may include besides itself and the system's; none: anything.
  std::optional<std::vector<std::filesystem::path>> own_files = {};
};

/// A command's exit status, and what it wrote, whole.
struct Said {
  int status = 0;
  std::string text;
};

/// Blocks for a minute at most. Writes into `work_dir`, which is also its TMPDIR. Throws
/// InvalidInput for a command that takes longer, Error for one that cannot be started, and
/// Interrupted at once after Ctrl-C; all that it has started is killed then.
[[nodiscard]] Said run_command(const std::vector<std::string>& command,
                               const std::filesystem::path& work_dir);

/// The same of a compiler or linker that reads somebody else's code: it reads `readable` and the
/// system's programs and headers, and writes into `work_dir`. As nobody where this runs as root.
/// Throws Unavailable, too, where diffbench is not installed as a whole.
[[nodiscard]] Said run_confined(const std::vector<std::string>& command,
                                const std::filesystem::path& work_dir,
                                const std::vector<std::filesystem::path>& readable);
/// Whether the kernel can do so (Landlock); else they read what the user can read.
[[nodiscard]] bool compilers_can_be_confined();

/// In which other people's code runs. Throws Unavailable.
[[nodiscard]] std::filesystem::path child_program();

/// The chosen one, else the first of the usual ones that is there. Throws Unavailable, with the
/// package that brings one.
[[nodiscard]] std::string find_compiler(bool of_c, const std::string& chosen);

struct Symbol {
  std::string name; ///< mangled, where the language does that
  char kind = 'U';  ///< nm(1)'s letter

  [[nodiscard]] bool defined() const { return kind != 'U' && kind != 'w' && kind != 'v'; }
  [[nodiscard]] bool function() const { return kind == 'T' || kind == 'W' || kind == 'i'; }
  /// Others may have it; 'u': of a template or an inline function.
  [[nodiscard]] bool weak() const { return kind == 'W' || kind == 'V' || kind == 'u'; }
};
/// Of a shared object (.so) or an object file those that others see, read without loading it, which
/// would run its code. Throws InvalidInput for a file that is neither, or not for 64 bits, and
/// Unavailable where there is no nm(1).
[[nodiscard]] std::vector<Symbol> symbols_of(const std::filesystem::path& file,
                                             const std::filesystem::path& work_dir);

/// The compiler's first line that tells of an error, with the file's name in place of its path.
[[nodiscard]] std::string first_error(const std::string& text, const std::filesystem::path& file);

/// A compiler's failure of which it does not say that it is the file's.
class Doubtful : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

/// Throws InvalidInput with the same as a sentence, which says where it was about a file that the
/// compiler may not read; Doubtful; or Unavailable where the machine is at fault: no space, no
/// memory, no process.
[[noreturn]] void refuse_compiled(const std::string& text, const std::filesystem::path& file);

} // namespace diffbench::bench
