// SPDX-License-Identifier: Apache-2.0
#include "cuda/emulated_cuda.hpp"

#include "command_words.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "host_compiler.hpp"
#include "included_files.hpp"
#include "plain_lines.hpp"
#include "translation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libdiffbench_emulated_cuda.so";

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Where the emulation is: installed with the program, or in the tree that it was built in.
struct Emulation {
  fs::path library;
  std::vector<std::string> include_folders;
};

Emulation find_emulation() {
  const fs::path root = program_path().parent_path().parent_path();
  const fs::path headers = root / "share/diffbench/cuda";
  Emulation found;
  for (const char* folder : {DIFFBENCH_LIBRARY_FOLDER, "lib"}) {
    const fs::path library = root / folder / "diffbench" / library_name;
    if (found.library.empty() && fs::exists(library)) {
      found.library = library;
    }
  }
  if (found.library.empty()) {
    throw Unavailable(fmt::format("the emulated CUDA runtime is not there: no {} in {}",
                                  library_name, (root / "lib/diffbench").string()));
  }
  if (fs::exists(headers)) {
    found.include_folders = {headers.string()};
  } else {
    std::istringstream folders(DIFFBENCH_EMULATION_HEADERS);
    for (std::string folder; std::getline(folders, folder, ':');) {
      found.include_folders.push_back(folder);
    }
  }
  return found;
}

// Headers of the toolkit that a C++ compiler finds where some package has them, but cannot read.
void refuse_other_headers(const fs::path& source, const Emulation& emulation) {
  static const std::regex of_toolkit(R"(\s*#[^<]*include[^<]*<((?:thrust|cub|cuda)/[^>]*)>.*)");
  std::ifstream stream(source);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::smatch header;
    if (std::regex_match(line, header, of_toolkit) &&
        std::ranges::none_of(emulation.include_folders, [&](const fs::path& folder) {
          return fs::exists(folder / header.str(1));
        })) {
      throw InvalidInput(fmt::format("{}:{}: <{}> is not emulated", source.filename().string(),
                                     number, header.str(1)));
    }
  }
}

// Of the emulation, and not what its headers call: `name` is as in an object file.
bool is_internal(std::string_view name) {
  constexpr std::string_view own = "9diffbench9emulation", called = "6detail";
  if (name.starts_with("diffbench_try_")) {
    return true;
  }
  const std::size_t at = name.find(own);
  return name.starts_with("_ZN") && at <= std::string_view("_ZNK").size() &&
         !name.substr(at + own.size()).starts_with(called);
}

// An object file that has functions of the device's own in their place, or calls what is not for
// the user's code: then nothing would be found in it. Whatever the text calls them.
void refuse_what_replaces_the_device(const fs::path& object, const std::string& name,
                                     const fs::path& runtime, const fs::path& work_dir) {
  std::map<std::string, bool> of_the_device; // and whether it is inline: then others may have it
  for (const Symbol& symbol : symbols_of(runtime, work_dir)) {
    if (symbol.defined()) {
      of_the_device.emplace(symbol.name, symbol.weak());
    }
  }
  for (const Symbol& symbol : symbols_of(object, work_dir)) {
    const auto same = of_the_device.find(symbol.name);
    const bool replaces = same != of_the_device.end() && !(same->second && symbol.weak());
    if (symbol.defined() ? replaces : is_internal(symbol.name)) {
      throw InvalidInput(
          fmt::format("{}: {} belongs to the emulated device; the file may not {} it", name,
                      symbol.name, symbol.defined() ? "define" : "use"));
    }
  }
}

// What would make the user's text look like that of a system header, which nobody translates.
void refuse_disguises(const fs::path& source) {
  const auto refuse = [&source](const PlainLine& line, std::string_view why) {
    throw InvalidInput(fmt::format("{}:{}: {}", source.filename().string(), line.number, why));
  };
  const std::string text = read_file(source);
  for (const PlainLine& line : plain_lines(text)) {
    const auto first = line.text.find_first_not_of(" \t\v\f\r");
    const std::string code = first == std::string::npos ? "" : line.text.substr(first);
    const std::size_t sign = code.starts_with("#") ? 1 : code.starts_with("%:") ? 2 : 0;
    const std::size_t next = code.find_first_not_of(" \t\v\f\r", sign);
    if (sign != 0 && next != std::string::npos && code[next] >= '0' && code[next] <= '9') {
      refuse(line, "a line marker is the preprocessor's own");
    }
    if (code.find('\r') != std::string::npos) {
      refuse(line, "compilers do not agree whether a carriage return alone ends a line");
    }
    if (code.find("system_header") != std::string::npos) { // perhaps put together by a macro
      refuse(line, "system_header is for the system's headers");
    }
  }
}

bool is_clang(const std::string& compiler, const fs::path& work_dir) {
  const fs::path probe = work_dir / "probe.cpp";
  std::ofstream(probe) << "#if !defined(__clang__)\n#error\n#endif\n";
  return run_command({compiler, "-E", "-o", "/dev/null", probe.string()}, work_dir).status == 0;
}

const DefinedFunction* find_function(const CudaTranslation& code, std::string_view name,
                                     bool kernel) {
  const auto found = std::ranges::find_if(code.functions, [&](const DefinedFunction& function) {
    return function.name == name && function.kernel == kernel;
  });
  return found == code.functions.end() ? nullptr : &*found;
}

// The type of the field that a function takes; what a typedef or using of the file names is found.
std::string cell_of(const CudaTranslation& code, const DefinedFunction& function) {
  std::istringstream words(function.parameters.empty() ? "" : function.parameters.front());
  std::string name;
  for (std::string word; words >> word && word != "*";) {
    name = word == "const" || word == "__restrict__" ? name : word;
  }
  for (const char* type : {"float", "double"}) {
    for (const std::string& declaration :
         {fmt::format("typedef {} {};", type, name), fmt::format("using {} = {};", name, type)}) {
      if (code.text.find(declaration) != std::string::npos) {
        return type;
      }
    }
  }
  return name;
}

struct CellType {
  Dtype dtype;
  std::string_view name, suffix;
};
constexpr CellType cell_types[] = {{Dtype::float32, "float", "f32"},
                                   {Dtype::float64, "double", "f64"}};

bool offers(const CudaTranslation& code, Form form, const CellType& type) {
  if (form == Form::session) {
    return find_function(code, fmt::format("diffbench_create_{}", type.suffix), false) != nullptr;
  }
  return std::ranges::any_of(code.functions, [&](const DefinedFunction& function) {
    return function.name == to_string(form) && function.kernel == (form == Form::step) &&
           !function.parameters.empty() &&
           (function.takes_template || cell_of(code, function) == type.name);
  });
}

// The widest first; without a dtype where it takes fields of neither.
std::vector<FoundForm> forms_of(const CudaTranslation& code) {
  std::vector<FoundForm> forms;
  for (const Form form : {Form::session, Form::solve, Form::step}) {
    FoundForm found{.form = form, .dtypes = {}};
    for (const CellType& type : cell_types) {
      if (offers(code, form, type)) {
        found.dtypes.push_back(type.dtype);
      }
    }
    if (!found.dtypes.empty() ||
        find_function(code, to_string(form), form == Form::step) != nullptr) {
      forms.push_back(std::move(found));
    }
  }
  return forms;
}

constexpr std::string_view kernel_form =
    "__global__ void step(const float* u, float* out, int nx, int ny, float factor)";

// The functions of diffbench_try.h for one type, on a session of diffbench_try_entry.h round the
// user's function. Where that cannot be called so, the message has its line.
std::string session_functions(const CudaTranslation& code, Form form, const CellType& type,
                              const std::string& source) {
  const bool is_step = form == Form::step;
  const char* const steps = is_step ? "" : ", steps";
  return fmt::format(R"(template <typename T> concept diffbench_callable_{0} =
    requires(const T* a, T* b, int nx, int ny, int steps, T factor) {{ {2}(a, b, nx, ny{3}, factor); }};
# {4} "{5}"
static_assert(diffbench_callable_{0}<{1}>, "{2} must be: {6}");
# 1 "<diffbench>" 3
using diffbench_session_{0} = ::diffbench::emulation::detail::{7}Session<{1}>;
extern "C" {{
diffbench_session* diffbench_create_{0}(const diffbench_problem* problem) {{
  return problem->boundary != DIFFBENCH_PERIODIC ? nullptr
             : reinterpret_cast<diffbench_session*>(new diffbench_session_{0}(*problem,
        +[](const {1}* a, {1}* b, int nx, int ny{8}, {1} factor) {{ {2}(a, b, nx, ny{3}, factor); }}{9}));
}}
int diffbench_upload_{0}(diffbench_session* s, const {1}* cells) {{ return reinterpret_cast<diffbench_session_{0}*>(s)->upload(cells); }}
int diffbench_advance_{0}(diffbench_session* s, int64_t steps) {{ return reinterpret_cast<diffbench_session_{0}*>(s)->advance(steps); }}
int diffbench_wait_{0}(diffbench_session* s) {{ return reinterpret_cast<diffbench_session_{0}*>(s)->wait(); }}
int diffbench_download_{0}(diffbench_session* s, {1}* cells) {{ return reinterpret_cast<diffbench_session_{0}*>(s)->download(cells); }}
void diffbench_destroy_{0}(diffbench_session* s) {{ delete reinterpret_cast<diffbench_session_{0}*>(s); }}
}}
)",
                     type.suffix, type.name, to_string(form), steps,
                     find_function(code, to_string(form), is_step)->line, source,
                     is_step ? kernel_form : solve_form, is_step ? "Step" : "Solve",
                     is_step ? "" : ", int steps",
                     is_step ? ", diffbench_block_x, diffbench_block_y" : "");
}

// What follows the user's code: the session's functions, and what registers the code.
std::string entry_text(const CudaTranslation& code, const Submission& taken,
                       const std::string& source) {
  std::string text = "\n# 1 \"<diffbench>\" 3\n";
  for (const CellType& type : cell_types) {
    if (taken.form != Form::session &&
        std::ranges::find(taken.dtypes, type.dtype) != taken.dtypes.end()) {
      text += session_functions(code, taken.form, type, source);
    }
  }
  text += fmt::format("extern \"C\" const char* diffbench_try_form() {{ return \"{}\"; }}\n",
                      to_string(taken.form));
  for (const char* section : {"device", "constant", "managed"}) {
    text += fmt::format(
        "extern \"C\" char __start_emulated_{0}[] __attribute__((weak, visibility(\"hidden\"))),\n"
        "    __stop_emulated_{0}[] __attribute__((weak, visibility(\"hidden\")));\n",
        section);
  }
  return text + fmt::format(R"(static const char* const diffbench_user_files[] = {{"{}", nullptr}};
__attribute__((constructor(101))) static void diffbench_register() {{
  ::diffbench::emulation::detail::register_user_code({{diffbench_user_files, __start_emulated_device,
      __stop_emulated_device, __start_emulated_constant, __stop_emulated_constant,
      __start_emulated_managed, __stop_emulated_managed}});
}}
)",
                            fmt::join(code.files, "\", \""));
}

// What comes nearest to a form, in a file that has none.
std::string no_form(const CudaTranslation& code, const std::string& name) {
  for (const DefinedFunction& function : code.functions) {
    if (function.name == "step" || (!function.kernel && function.name == "main")) {
      return fmt::format("{}:{}: {} is no form that can be tried; the nearest one is: {}", name,
                         function.line, function.kernel ? "this kernel" : function.name + "()",
                         function.name == "step" ? kernel_form : solve_form);
    }
  }
  for (const DefinedFunction& function : code.functions) {
    if (function.kernel) {
      return fmt::format(
          "{}:{}: the kernel {} is no form that can be tried; the nearest one is: {}", name,
          function.line, function.name, kernel_form);
    }
  }
  return fmt::format("{} has no form that can be tried; the simplest one is: {}", name,
                     kernel_form);
}

} // namespace

Submission compile_emulated_cuda(const fs::path& source, std::optional<Form> form,
                                 const fs::path& work_dir, const CompilerChoice& choice) {
  const fs::path file = fs::absolute(source);
  const std::string name = source.filename().string();
  if (!fs::exists(file)) {
    throw InvalidInput(fmt::format("no file {}", source.string()));
  }
  const Emulation emulation = find_emulation();
  refuse_other_headers(file, emulation);
  const std::string compiler = find_compiler(/*of_c=*/false, choice.compiler);

  const fs::path unit = work_dir / "unit.cpp";
  std::ofstream(unit) << "#line 1 \"<diffbench>\"\n#include <diffbench_try_entry.h>\n"
                      << "#include \"" << file.string() << "\"\n"
                      << "#if !defined(BLOCK_X)\n#define BLOCK_X 16\n#endif\n"
                      << "#if !defined(BLOCK_Y)\n#define BLOCK_Y 16\n#endif\n"
                      << "enum { diffbench_block_x = BLOCK_X, diffbench_block_y = BLOCK_Y };\n";
  const fs::path preprocessed = work_dir / "preprocessed.ii";
  std::vector<std::string> looking = {compiler};
  for (const std::string& folder : emulation.include_folders) {
    looking.insert(looking.end(), {"-isystem", folder});
  }
  const std::vector<fs::path> readable = readable_files(looking, "c++", work_dir, choice, file);
  std::vector<std::string> command = looking;
  command.insert(command.end(),
                 {"-E", "-std=gnu++20", "-fdiagnostics-color=never", "-DDIFFBENCH_USER_CODE",
                  "-D__CUDACC__", "-D__NVCC__", "-I", file.parent_path().string()});
  std::ranges::move(listing_flags(work_dir), std::back_inserter(command));
  command.insert(command.end(), {unit.string(), "-o", preprocessed.string()});
  if (const Said said = run_confined(command, work_dir, readable); said.status != 0) {
    refuse_compiled(said.text, file);
  }
  const std::vector<fs::path> of_the_user = files_of_the_user(looking, "c++", work_dir);
  refuse_foreign_files(of_the_user, choice, file);
  std::ranges::for_each(of_the_user, refuse_disguises);

  const std::string text = read_file(preprocessed);
  const CudaTranslation code = translate_cuda(text);
  const std::vector<FoundForm> forms = forms_of(code);
  Submission result =
      take(Language::cuda, forms, form, forms.empty() ? no_form(code, name) : std::string());
  if (result.dtypes.empty()) {
    throw InvalidInput(
        fmt::format("{}: {} takes neither fields of float nor of double; it must be: {}", name,
                    to_string(result.form), result.form == Form::step ? kernel_form : solve_form));
  }
  const fs::path translated = work_dir / "translated.ii";
  std::ofstream(translated, std::ios::binary)
      << code.text << entry_text(code, result, file.string());
  result.compiled.has_session = true;
  result.compiled.library = work_dir / "submission.so";
  // As the kernels of the emulation's own tests: what they access is said by the instrumentation of
  // the thread sanitizer, whose library is not linked.
  const std::string flags =
      "-std=gnu++20 -O2 -g1 -gdwarf-4 -w -fPIC -shared -ffp-contract=off "
      "-fno-optimize-sibling-calls -ffunction-sections -fdiagnostics-color=never "
      "-U_FORTIFY_SOURCE -fsanitize=thread " +
      std::string(is_clang(compiler, work_dir) ? "-mllvm -tsan-instrument-func-entry-exit=0"
                                               : "--param=tsan-instrument-func-entry-exit=0");
  const fs::path object = work_dir / "submission.o";
  command = argument_words(flags);
  command.insert(command.begin(), compiler);
  command.erase(std::ranges::find(command, "-shared"));
  command.insert(command.end(), {"-c", translated.string(), "-o", object.string()});
  if (const Said said = run_confined(command, work_dir, readable); said.status != 0) {
    const std::vector<std::string> unknown = unknown_cuda_names(text);
    if (unknown.empty()) {
      refuse_compiled(said.text, file);
    }
    throw InvalidInput(fmt::format("{}", fmt::join(unknown, "; ")));
  }
  refuse_what_replaces_the_device(object, name, emulation.library, work_dir);
  // Who runs it may see no other folder.
  const fs::path runtime = work_dir / library_name;
  fs::copy_file(emulation.library, runtime, fs::copy_options::overwrite_existing);
  // Without -fsanitize: its library is not wanted.
  command = {compiler,        "-shared",       "-o", result.compiled.library.string(),
             object.string(), runtime.string()};
  std::ranges::move(
      argument_words("-Wl,-rpath,$ORIGIN -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset "
                     "-Wl,-Bsymbolic -Wl,-z,defs"),
      std::back_inserter(command));
  if (const Said said = run_confined(command, work_dir, readable); said.status != 0) {
    refuse_compiled(said.text, file);
  }
  result.compiled.command = fmt::format("{} {} {} {}", compiler, flags, name, library_name);
  return result;
}

} // namespace diffbench::bench
