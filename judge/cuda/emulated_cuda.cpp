// SPDX-License-Identifier: Apache-2.0
#include "cuda/emulated_cuda.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "elf_symbols.hpp"
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
    found.include_folders = {headers.string(), (root / "include").string()};
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
  std::ifstream stream(source);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::size_t open = line.find('<');
    const std::size_t close = line.find('>');
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] != '#' || close == std::string::npos ||
        open > close || line.substr(0, open).find("include") == std::string::npos) {
      continue;
    }
    const std::string header = line.substr(open + 1, close - open - 1);
    const bool of_toolkit =
        header.starts_with("thrust/") || header.starts_with("cub/") || header.starts_with("cuda/");
    if (of_toolkit && std::ranges::none_of(emulation.include_folders, [&](const fs::path& folder) {
          return fs::exists(folder / header);
        })) {
      throw InvalidInput(
          fmt::format("{}:{}: <{}> is not emulated", source.filename().string(), number, header));
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
                                     const fs::path& runtime) {
  std::map<std::string, bool> of_the_device; // and whether it is inline: then others may have it
  for (const ElfSymbol& symbol : elf_symbols(runtime)) {
    if (symbol.defined) {
      of_the_device.emplace(symbol.name, symbol.weak);
    }
  }
  for (const ElfSymbol& symbol : elf_symbols(object)) {
    const auto same = of_the_device.find(symbol.name);
    const bool replaces = same != of_the_device.end() && !(same->second && symbol.weak);
    if (symbol.defined ? replaces : is_internal(symbol.name)) {
      throw InvalidInput(
          fmt::format("{}: {} belongs to the emulated device; the file may not {} it", name,
                      symbol.name, symbol.defined ? "define" : "use"));
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
    const std::size_t first = line.text.find_first_not_of(" \t\v\f\r");
    const std::string_view code =
        first == std::string::npos ? std::string_view() : std::string_view(line.text).substr(first);
    const std::size_t sign = code.starts_with("#") ? 1 : code.starts_with("%:") ? 2 : 0;
    const std::size_t next = code.find_first_not_of(" \t\v\f\r", sign);
    if (sign != 0 && next != std::string_view::npos && code[next] >= '0' && code[next] <= '9') {
      refuse(line, "a line marker is the preprocessor's own");
    }
    if (code.find('\r') != std::string_view::npos) {
      refuse(line, "compilers do not agree whether a carriage return alone ends a line");
    }
    if (code.find("system_header") != std::string_view::npos) { // perhaps put together by a macro
      refuse(line, "system_header is for the system's headers");
    }
  }
}

bool is_clang(const std::string& compiler, const fs::path& work_dir) {
  const fs::path probe = work_dir / "probe.cpp";
  std::ofstream(probe) << "#if !defined(__clang__)\n#error\n#endif\n";
  return run_command({compiler, "-E", "-o", "/dev/null", probe.string()}, work_dir).status == 0;
}

std::vector<DefinedFunction>::const_iterator find_function(const CudaTranslation& code,
                                                           std::string_view name, bool kernel) {
  return std::ranges::find_if(code.functions, [&](const DefinedFunction& function) {
    return function.name == name && function.kernel == kernel;
  });
}

struct Types {
  bool float32 = false, float64 = false;
};

// What `name` is another name of, by a typedef or using of the file; else itself.
std::string resolved(const std::string& text, const std::string& name) {
  for (const char* type : {"float", "double"}) {
    for (const std::string& declaration :
         {fmt::format("typedef {} {};", type, name), fmt::format("using {} = {};", name, type)}) {
      if (text.find(declaration) != std::string::npos) {
        return type;
      }
    }
  }
  return name;
}

// Of the fields that the functions of that name take.
Types types_of(const CudaTranslation& code, std::string_view name, bool kernel) {
  Types types;
  for (const DefinedFunction& function : code.functions) {
    if (function.name != name || function.kernel != kernel || function.parameters.empty()) {
      continue;
    }
    std::istringstream words(function.parameters.front());
    std::string type;
    for (std::string word; words >> word && word != "*";) {
      type = word == "const" || word == "__restrict__" ? type : word;
    }
    type = resolved(code.text, type);
    types.float32 |= type == "float" || function.takes_template;
    types.float64 |= type == "double" || function.takes_template;
  }
  return types;
}

constexpr std::string_view step_form =
    "__global__ void step(const float* u, float* out, int nx, int ny, float factor)";
constexpr std::string_view solve_form =
    "void solve(const float* in, float* out, int nx, int ny, int steps, float factor)";

// The functions of diffbench_try.h for one type, on a session of diffbench_try_entry.h.
std::string session_functions(std::string_view suffix, std::string_view type,
                              const std::string& session, const std::string& made_with) {
  return fmt::format(R"(extern "C" {{
diffbench_session* diffbench_create_{0}(const diffbench_problem* problem) {{
  return problem->boundary != DIFFBENCH_PERIODIC ? nullptr
             : reinterpret_cast<diffbench_session*>(new {2}(*problem, {3}));
}}
int diffbench_upload_{0}(diffbench_session* s, const {1}* cells) {{ return reinterpret_cast<{2}*>(s)->upload(cells); }}
int diffbench_advance_{0}(diffbench_session* s, int64_t steps) {{ return reinterpret_cast<{2}*>(s)->advance(steps); }}
int diffbench_wait_{0}(diffbench_session* s) {{ return reinterpret_cast<{2}*>(s)->wait(); }}
int diffbench_download_{0}(diffbench_session* s, {1}* cells) {{ return reinterpret_cast<{2}*>(s)->download(cells); }}
void diffbench_destroy_{0}(diffbench_session* s) {{ delete reinterpret_cast<{2}*>(s); }}
}}
)",
                     suffix, type, session, made_with);
}

// What follows the user's code: the session's functions, and what registers the code.
class Entry {
 public:
  Entry(const CudaTranslation& code, Form form, const fs::path& source)
      : code_(code), form_(form), source_(source.string()) {}

  [[nodiscard]] Types types() const {
    return form_ == Form::session
               ? Types{find_function(code_, "diffbench_create_f32", false) != code_.functions.end(),
                       find_function(code_, "diffbench_create_f64", false) != code_.functions.end()}
               : types_of(code_, to_string(form_), form_ == Form::step);
  }

  [[nodiscard]] std::string text() const {
    std::string text = "\n# 1 \"<diffbench>\" 3\n";
    if (form_ != Form::session) {
      text +=
          functions("f32", "float", types().float32) + functions("f64", "double", types().float64);
    }
    std::string files;
    for (const std::string& file : code_.files) {
      files += fmt::format("\"{}\", ", file);
    }
    text += fmt::format(
        R"(extern "C" const char* diffbench_try_form() {{ return "{}"; }}
extern "C" {{
extern char __start_emulated_device[] __attribute__((weak, visibility("hidden")));
extern char __stop_emulated_device[] __attribute__((weak, visibility("hidden")));
extern char __start_emulated_constant[] __attribute__((weak, visibility("hidden")));
extern char __stop_emulated_constant[] __attribute__((weak, visibility("hidden")));
extern char __start_emulated_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_emulated_managed[] __attribute__((weak, visibility("hidden")));
}}
static const char* const diffbench_user_files[] = {{{}nullptr}};
__attribute__((constructor(101))) static void diffbench_register() {{
  ::diffbench::emulation::detail::register_user_code({{diffbench_user_files, __start_emulated_device,
      __stop_emulated_device, __start_emulated_constant, __stop_emulated_constant,
      __start_emulated_managed, __stop_emulated_managed}});
}}
)",
        to_string(form_), files);
    return text;
  }

 private:
  [[nodiscard]] std::string functions(std::string_view suffix, std::string_view type,
                                      bool there) const {
    if (!there) {
      return {};
    }
    const bool is_step = form_ == Form::step;
    const auto function = find_function(code_, to_string(form_), is_step);
    const std::string arguments =
        is_step ? fmt::format("const {0}* a, {0}* b, int nx, int ny, {0} factor", type)
                : fmt::format("const {0}* a, {0}* b, int nx, int ny, int steps, {0} factor", type);
    const std::string passed = is_step ? "(a, b, nx, ny, factor)" : "(a, b, nx, ny, steps, factor)";
    // Where it cannot be called so, the message has the line of the user's function.
    const std::string check = fmt::format(
        "template <typename T> concept diffbench_callable_{0} =\n"
        "    requires(const T* a, T* b, int nx, int ny, int steps, T factor) {{ {1}{2}; }};\n"
        "# {3} \"{4}\"\nstatic_assert(diffbench_callable_{0}<{5}>, \"{1} must be: {6}\");\n"
        "# 1 \"<diffbench>\" 3\n",
        suffix, to_string(form_), passed, function->line, source_, type,
        is_step ? step_form : solve_form);
    const std::string session = fmt::format("::diffbench::emulation::detail::{}Session<{}>",
                                            is_step ? "Step" : "Solve", type);
    const char* const shape = is_step ? ", diffbench_block_x, diffbench_block_y" : "";
    return check + session_functions(suffix, type, session,
                                     fmt::format("+[]({}) {{ {}{}; }}{}", arguments,
                                                 to_string(form_), passed, shape));
  }

  const CudaTranslation& code_;
  Form form_;
  std::string source_;
};

std::vector<Form> forms_of(const CudaTranslation& code) {
  std::vector<Form> forms;
  const auto has = [&](std::string_view name, bool kernel) {
    return find_function(code, name, kernel) != code.functions.end();
  };
  if (has("diffbench_create_f32", false) || has("diffbench_create_f64", false)) {
    forms.push_back(Form::session);
  }
  if (has("solve", false)) {
    forms.push_back(Form::solve);
  }
  if (has("step", true)) {
    forms.push_back(Form::step);
  }
  return forms;
}

// What comes nearest to a form, in a file that has none.
std::string no_form(const CudaTranslation& code, const std::string& name) {
  for (const DefinedFunction& function : code.functions) {
    if (function.name == "step" || (!function.kernel && function.name == "main")) {
      return fmt::format("{}:{}: {} is no form that can be tried; the nearest one is: {}", name,
                         function.line, function.kernel ? "this kernel" : function.name + "()",
                         function.name == "step" ? step_form : solve_form);
    }
  }
  for (const DefinedFunction& function : code.functions) {
    if (function.kernel) {
      return fmt::format(
          "{}:{}: the kernel {} is no form that can be tried; the nearest one is: {}", name,
          function.line, function.name, step_form);
    }
  }
  return fmt::format("{} has no form that can be tried; the simplest one is: {}", name, step_form);
}

} // namespace

EmulatedCuda compile_emulated_cuda(const fs::path& source, std::optional<Form> form,
                                   const fs::path& work_dir, const CompilerChoice& choice) {
  const fs::path file = fs::absolute(source);
  const std::string name = source.filename().string();
  if (!fs::exists(file)) {
    throw InvalidInput(fmt::format("no file {}", source.string()));
  }
  const Emulation emulation = find_emulation();
  refuse_other_headers(file, emulation);
  const std::string compiler = find_cpp_compiler(choice.compiler);
  const bool clang = is_clang(compiler, work_dir);

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
    throw InvalidInput(why_not_compiled(said.text, file));
  }
  const std::vector<fs::path> of_the_user = files_of_the_user(looking, "c++", work_dir);
  refuse_foreign_files(of_the_user, choice, file);
  std::ranges::for_each(of_the_user, refuse_disguises);

  const std::string text = read_file(preprocessed);
  const CudaTranslation code = translate_cuda(text);
  const std::vector<Form> forms = forms_of(code);
  if (forms.empty()) {
    throw InvalidInput(no_form(code, name));
  }
  if (form && std::ranges::find(forms, *form) == forms.end()) {
    throw InvalidInput(fmt::format("--form {}: {} has no such form; it has {}", to_string(*form),
                                   name, to_string(forms.front())));
  }
  EmulatedCuda result;
  result.form = form.value_or(forms.front());
  const Entry entry(code, result.form, file);
  const Types types = entry.types();
  result.float32 = types.float32;
  result.float64 = types.float64;
  if (!types.float32 && !types.float64) {
    throw InvalidInput(
        fmt::format("{}: {} takes neither fields of float nor of double; it must be: {}", name,
                    to_string(result.form), result.form == Form::step ? step_form : solve_form));
  }
  std::ranges::copy_if(forms, std::back_inserter(result.other_forms),
                       [&](Form other) { return other != result.form; });

  const fs::path translated = work_dir / "translated.ii";
  std::ofstream(translated, std::ios::binary) << code.text << entry.text();
  result.compiled.library = work_dir / "submission.so";
  // As the kernels of the emulation's own tests: what they access is said by the instrumentation of
  // the thread sanitizer, whose library is not linked.
  command = {compiler,
             "-std=gnu++20",
             "-O2",
             "-g1",
             "-gdwarf-4",
             "-w",
             "-fPIC",
             "-shared",
             "-ffp-contract=off",
             "-fno-optimize-sibling-calls",
             "-ffunction-sections",
             "-fdiagnostics-color=never",
             "-U_FORTIFY_SOURCE",
             "-fsanitize=thread"};
  if (clang) {
    command.insert(command.end(), {"-mllvm", "-tsan-instrument-func-entry-exit=0"});
  } else {
    command.insert(command.end(), {"--param=tsan-instrument-func-entry-exit=0"});
  }
  const std::vector<std::string> compile = command;
  const fs::path object = work_dir / "submission.o";
  command.insert(command.end(), {"-c", translated.string(), "-o", object.string()});
  command.erase(std::ranges::find(command, "-shared"));
  if (const Said said = run_confined(command, work_dir, readable); said.status != 0) {
    const std::vector<std::string> unknown = unknown_cuda_names(text);
    throw InvalidInput(unknown.empty() ? why_not_compiled(said.text, file)
                                       : fmt::format("{}", fmt::join(unknown, "; ")));
  }
  refuse_what_replaces_the_device(object, name, emulation.library);
  // Who runs it may see no other folder.
  const fs::path runtime = work_dir / library_name;
  fs::copy_file(emulation.library, runtime, fs::copy_options::overwrite_existing);
  // Without -fsanitize: its library is not wanted.
  command = {compiler,
             "-shared",
             "-o",
             result.compiled.library.string(),
             object.string(),
             runtime.string(),
             "-Wl,-rpath,$ORIGIN",
             "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset",
             "-Wl,-Bsymbolic",
             "-Wl,-z,defs"};
  if (const Said said = run_confined(command, work_dir, readable); said.status != 0) {
    throw InvalidInput(fmt::format("{} does not link: {}", name, first_error(said.text, file)));
  }
  result.compiled.command =
      fmt::format("{} {} {} {}", compiler, fmt::join(compile.begin() + 1, compile.end(), " "), name,
                  library_name);
  return result;
}

} // namespace diffbench::bench
