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
#include <ranges>
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
  static const std::regex of_toolkit(
      R"re(\s*#[^<"]*include[^<"]*[<"]((?:(?:thrust|cub|cuda|cooperative_groups|nvtx3)/|cu|mma\.)[^>"]*)[>"].*)re");
  std::ifstream stream(source);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::smatch header;
    if (std::regex_match(line, header, of_toolkit) &&
        !fs::exists(source.parent_path() / header.str(1)) &&
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
  const std::string text = text_of_file(source);
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

// Makes the user's code known to the emulation when it is loaded.
std::string registration_text(const std::vector<std::string>& files) {
  std::string text = "\n# 1 \"<diffbench>\" 3\n";
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
                            fmt::join(files, "\", \""));
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
  return text + registration_text(code.files);
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

// Turns files into a shared object, one after the other.
class EmulatedCompiler {
 public:
  /// `of_program`: else of a form, whose host code does what its caller has it do.
  EmulatedCompiler(const fs::path& work_dir, const CompilerChoice& choice, bool of_program)
      : work_dir_(work_dir),
        choice_(choice),
        emulation_(find_emulation()),
        compiler_(find_compiler(/*of_c=*/false, choice.compiler)),
        is_clang_(is_clang(compiler_, work_dir)),
        program_flags_(of_program ? "-fopenmp -fno-semantic-interposition" : ""),
        looking_{compiler_} {
    for (const std::string& folder : emulation_.include_folders) {
      looking_.insert(looking_.end(), {"-isystem", folder});
    }
    for (const std::string& flag : argument_words(program_flags_ + " " + choice.flags)) {
      const bool is_folder = flag.starts_with("-I") && flag.size() > 2; // compilers run elsewhere
      flags_.push_back(is_folder ? "-I" + fs::absolute(flag.substr(2)).string() : flag);
    }
  }

  // What the preprocessor makes of `unit`, a text that includes the file.
  std::string preprocessed(const fs::path& file, const std::string& unit, bool is_cuda) {
    if (!fs::exists(file)) {
      throw InvalidInput(fmt::format("no file {}", file.string()));
    }
    refuse_other_headers(file, emulation_);
    const fs::path source = work_dir_ / (is_c(file) ? "unit.c" : "unit.cpp"),
                   result = work_dir_ / "preprocessed.ii";
    std::ofstream(source) << unit;
    std::vector<std::string> command = looking_;
    command.insert(command.end(), flags_.begin(), flags_.end());
    readable_ = readable_files(command, "c++", work_dir_, choice_, file);
    command.insert(
        command.end(),
        {"-E", is_c(file) ? "-xc" : "-xc++", is_c(file) ? "-std=gnu17" : "-std=gnu++20",
         "-fdiagnostics-color=never", "-DDIFFBENCH_USER_CODE", "-I", file.parent_path().string()});
    if (is_cuda) {
      command.insert(command.end(), {"-D__CUDACC__", "-D__NVCC__"});
    }
    std::ranges::move(listing_flags(work_dir_), std::back_inserter(command));
    command.insert(command.end(), {source.string(), "-o", result.string()});
    if (const Said said = run_confined(command, work_dir_, readable_); said.status != 0) {
      refuse_compiled(said.text, file);
    }
    const std::vector<fs::path> of_the_user = files_of_the_user(looking_, "c++", work_dir_);
    refuse_foreign_files(of_the_user, choice_, file);
    std::ranges::for_each(of_the_user, refuse_disguises);
    for (const fs::path& each : of_the_user) {
      refuse_other_headers(each, emulation_);
    }
    return text_of_file(result);
  }

  // Adds what `translated` becomes; false: it does not compile, and why is in complaint().
  [[nodiscard]] bool compile(const std::string& translated, const fs::path& file) {
    const fs::path source = work_dir_ / "translated.ii";
    std::ofstream(source, std::ios::binary) << translated;
    const fs::path object = work_dir_ / fmt::format("submission{}.o", objects_.size());
    std::vector<std::string> command = {compiler_};
    std::ranges::move(argument_words(flags()), std::back_inserter(command));
    command.insert(command.end(), flags_.begin(), flags_.end());
    if (is_c(file)) {
      command.emplace_back("-std=gnu17");
    }
    command.insert(command.end(), {"-x", is_c(file) ? "cpp-output" : "c++-cpp-output", "-c",
                                   source.string(), "-o", object.string()});
    if (Said said = run_confined(command, work_dir_, readable_); said.status != 0) {
      complaint_ = std::move(said.text);
      return false;
    }
    refuse_what_replaces_the_device(object, file.filename().string(), emulation_.library,
                                    work_dir_);
    objects_.push_back(object.string());
    return true;
  }

  // Of what did not compile: names that CUDA has and the emulation has not, else the compiler's
  // words.
  [[noreturn]] void refuse(const std::string& preprocessed_text, const fs::path& file) const {
    const std::vector<std::string> unknown = unknown_cuda_names(preprocessed_text);
    if (unknown.empty()) {
      refuse_compiled(complaint_, file);
    }
    throw InvalidInput(fmt::format("{}", fmt::join(unknown, "; ")));
  }

  CompiledSubmission link(const fs::path& file, const std::string& names) {
    CompiledSubmission result{.library = work_dir_ / "submission.so", .command = {}};
    // Who runs it may see no other folder.
    const fs::path runtime = work_dir_ / library_name;
    fs::copy_file(emulation_.library, runtime, fs::copy_options::overwrite_existing);
    // Without -fsanitize: its library is not wanted.
    std::vector<std::string> command = {compiler_, "-shared", "-o", result.library.string()};
    command.insert(command.end(), objects_.begin(), objects_.end());
    command.push_back(runtime.string());
    command.insert(command.end(), flags_.begin(), flags_.end());
    command.insert(command.end(), {"-Wl,-rpath,$ORIGIN", "-Wl,-Bsymbolic", "-Wl,-z,defs",
                                   "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"});
    if (!program_flags_.empty()) { // its clocks (emulation/src/stopwatch.cpp)
      for (const char* clock :
           {"gettimeofday", "clock_gettime", "clock", "time", "omp_get_wtime", "fopen",
            "_ZNSt6chrono3_V212system_clock3nowEv", "_ZNSt6chrono3_V212steady_clock3nowEv"}) {
        command.push_back(fmt::format("-Wl,--wrap={}", clock));
      }
    }
    if (const Said said = run_confined(command, work_dir_, readable_); said.status != 0) {
      refuse_compiled(said.text, file);
    }
    result.command = fmt::format("{} {} -shared {} {}", compiler_, flags(), names, library_name);
    return result;
  }

  [[nodiscard]] QuickKernels quick_kernels() const {
    return is_clang_ ? QuickKernels::of_clang : QuickKernels::of_gcc;
  }

 private:
  static bool is_c(const fs::path& file) { return file.extension() == ".c"; }

  // As the kernels of the emulation's own tests: what they access is said by the instrumentation of
  // the thread sanitizer, whose library is not linked.
  [[nodiscard]] std::string flags() const {
    return fmt::format(
        "-std=gnu++20 -O2 -g1 -gdwarf-4 -w -fPIC -ffp-contract=off -fno-optimize-sibling-calls "
        "-ffunction-sections -fdiagnostics-color=never -U_FORTIFY_SOURCE -fsanitize=thread {}{}{}",
        is_clang_ ? "-mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-distinguish-volatile"
                  : "--param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1",
        program_flags_.empty() ? "" : " ", program_flags_);
  }

  fs::path work_dir_;
  const CompilerChoice& choice_;
  Emulation emulation_;
  std::string compiler_;
  bool is_clang_;
  std::string program_flags_;
  std::vector<std::string> looking_; ///< the compiler, and where it finds headers
  std::vector<std::string> flags_;   ///< of programs, and the user's
  std::vector<fs::path> readable_;
  std::vector<std::string> objects_;
  std::string complaint_;
};

} // namespace

Submission compile_emulated_cuda(const fs::path& source, std::optional<Form> form,
                                 const fs::path& work_dir, const CompilerChoice& choice) {
  const fs::path file = fs::absolute(source);
  const std::string name = source.filename().string();
  EmulatedCompiler compiler(work_dir, choice, /*of_program=*/false);
  const std::string text = compiler.preprocessed(
      file,
      fmt::format("#line 1 \"<diffbench>\"\n#include <diffbench_try_entry.h>\n#include \"{}\"\n"
                  "#if !defined(BLOCK_X)\n#define BLOCK_X 16\n#endif\n"
                  "#if !defined(BLOCK_Y)\n#define BLOCK_Y 16\n#endif\n"
                  "enum {{ diffbench_block_x = BLOCK_X, diffbench_block_y = BLOCK_Y }};\n",
                  file.string()),
      /*is_cuda=*/true);
  const CudaTranslation code = translate_cuda(text, QuickKernels::none);
  const std::vector<FoundForm> forms = forms_of(code);
  Submission result =
      take(Language::cuda, forms, form, forms.empty() ? no_form(code, name) : std::string());
  if (result.dtypes.empty()) {
    throw InvalidInput(
        fmt::format("{}: {} takes neither fields of float nor of double; it must be: {}", name,
                    to_string(result.form), result.form == Form::step ? kernel_form : solve_form));
  }
  if (!compiler.compile(code.text + entry_text(code, result, file.string()), file)) {
    compiler.refuse(text, file);
  }
  result.compiled = compiler.link(file, name);
  result.compiled.has_session = true;
  return result;
}

CompiledSubmission compile_emulated_program(const std::vector<fs::path>& sources,
                                            const fs::path& work_dir,
                                            const CompilerChoice& choice) {
  EmulatedCompiler compiler(work_dir, choice, /*of_program=*/true);
  std::vector<std::string> files, names;
  // The first file comes last: it registers them all.
  for (const fs::path& source : std::views::reverse(sources)) {
    const fs::path file = fs::absolute(source);
    const bool is_cuda = file.extension() == ".cu";
    names.insert(names.begin(), file.filename().string());
    const std::string text = compiler.preprocessed(
        file,
        fmt::format("#line 1 \"<diffbench>\"\n{}#include \"{}\"\n",
                    is_cuda || &source == &sources.front() ? "#include <cuda_runtime.h>\n" : "",
                    file.string()),
        is_cuda);
    const auto compiles = [&](QuickKernels quick) {
      CudaTranslation code = translate_cuda(text, quick);
      std::ranges::copy_if(code.files, std::back_inserter(files), [&](const std::string& used) {
        return std::ranges::find(files, used) == files.end();
      });
      return compiler.compile(
          code.text + (&source == &sources.front() ? registration_text(files) : ""), file);
    };
    if (!compiles(compiler.quick_kernels()) && !compiles(QuickKernels::none)) {
      compiler.refuse(text, file);
    }
  }
  return compiler.link(fs::absolute(sources.front()), fmt::format("{}", fmt::join(names, " ")));
}

bool has_main(const fs::path& source) {
  static const std::regex main(R"((^|[^\w.:>])main\s*\()");
  const std::string text = text_of_file(source);
  return std::ranges::any_of(
      plain_lines(text), [](const PlainLine& line) { return std::regex_search(line.text, main); });
}

} // namespace diffbench::bench
