// SPDX-License-Identifier: Apache-2.0
#include "submission.hpp"

#include "command_words.hpp"
#include "cuda/emulated_cuda.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/text.hpp"
#include "included_files.hpp"
#include "peer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include <cxxabi.h>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct FileEnding {
  std::string_view end;
  Language language;
};
constexpr FileEnding endings[] = {{".c", Language::c},       {".cpp", Language::cpp},
                                  {".cc", Language::cpp},    {".cxx", Language::cpp},
                                  {".cu", Language::cuda},   {".py", Language::python},
                                  {".so", Language::library}};

struct Contained {
  std::string_view name, text;
};
constexpr Contained contained[] = {
#include "interleave.inc"
};

/// A compiler and what it is to do with a file.
class Compiler {
 public:
  Compiler(Language language, const CompilerChoice& choice, const fs::path& work_dir)
      : language_(language),
        choice_(choice),
        work_dir_(work_dir),
        program_(find_compiler(language == Language::c, choice.compiler)) {
    // Products are rounded before they are added, as NumPy's; --flags may have it otherwise.
    flags_ = choice.flags.empty()
                 ? std::vector<std::string>{"-O3", "-march=native", "-ffp-contract=off", "-fopenmp"}
                 : argument_words(choice.flags);
  }

  CompiledSubmission compile(const fs::path& file) {
    const fs::path library = work_dir_ / "submission.so";
    const std::string language = language_ == Language::c ? "c" : "c++";
    readable_ = readable_files(base(), language, work_dir_, choice_, file);
    std::vector<std::string> command = base();
    if (choice_.own_files) {
      std::ranges::move(listing_flags(work_dir_), std::back_inserter(command));
    }
    command.insert(command.end(), {"-shared", "-fPIC", "-o", library.string(),
                                   fs::absolute(file).string(), "-lm"});
    const Said said = run_confined(command, work_dir_, readable_);
    if (said.status != 0) {
      refuse_compiled(said.text, file);
    }
    if (choice_.own_files) {
      refuse_foreign_files(files_of_the_user(base(), language, work_dir_), choice_, file);
    }
    return {.library = library,
            .command = fmt::format("{} {} -shared -fPIC {}", program_, fmt::join(flags_, " "),
                                   one_line(file.filename().string()))};
  }

  /// For races; empty where it has no threads, or cannot be built so.
  std::optional<CompiledSubmission> compile_for_races(const fs::path& file,
                                                      const CompiledSubmission& usual) {
    const bool has_threads =
        std::ranges::any_of(symbols_of(usual.library, work_dir_), [](const Symbol& symbol) {
          return !symbol.defined() && (symbol.name.starts_with("GOMP_parallel") ||
                                       symbol.name.starts_with("__kmpc_fork") ||
                                       symbol.name.starts_with("_ZNSt6thread") ||
                                       symbol.name.starts_with("pthread_create") ||
                                       symbol.name.starts_with("thrd_create"));
        });
    const fs::path hooks = work_dir_ / "interleave.c", object = work_dir_ / "races.o";
    const fs::path hooks_object = work_dir_ / "interleave.o", library = work_dir_ / "races.so";
    std::ofstream(hooks) << contained[0].text;
    std::vector<std::string> compile = base(), link = base();
    compile.insert(compile.end(), {"-w", "-O0", "-fno-lto", "-fsanitize=thread", "-fPIC", "-c",
                                   "-o", object.string(), fs::absolute(file).string()});
    link.insert(link.end(), {"-shared", "-fno-lto", "-o", library.string(), object.string(),
                             hooks_object.string(), "-lm"});
    const auto done = [&](std::vector<std::string> command) {
      return run_confined(std::move(command), work_dir_, readable_).status == 0;
    };
    if (!has_threads ||
        !done({program_, "-w", "-O1", "-fPIC", "-x", "c", "-c", "-o", hooks_object.string(),
               hooks.string()}) ||
        !done(compile) || !done(link)) {
      return std::nullopt;
    }
    let_others_read(library);
    return CompiledSubmission{.library = library, .command = usual.command};
  }

  /// Whether the file's function of that name has this type: C's linkage does not tell.
  bool has_type(const fs::path& file, std::string_view name, const std::string& type) {
    const fs::path probe = work_dir_ / (language_ == Language::c ? "probe.c" : "probe.cpp");
    std::ofstream(probe) << (language_ == Language::c
                                 ? fmt::format("_Static_assert(_Generic(&{}, {}: 1, default: 0), "
                                               "\"\");\n",
                                               name, fmt::format(fmt::runtime(type), ""))
                                 : fmt::format("{} = &{};\n",
                                               fmt::format(fmt::runtime(type), "diffbench_probe"),
                                               name));
    std::vector<std::string> command = base();
    command.insert(command.end(), {"-w", "-fsyntax-only", "-include", fs::absolute(file).string(),
                                   probe.string()});
    return run_confined(command, work_dir_, readable_).status == 0;
  }

 private:
  [[nodiscard]] std::vector<std::string> base() const {
    std::vector<std::string> command = {program_};
    command.insert(command.end(), flags_.begin(), flags_.end());
    // Of what is installed, and of the source tree that we were built from.
    command.insert(command.end(),
                   {"-fdiagnostics-color=never", "-I",
                    (program_path().parent_path().parent_path() / "include").string(), "-I",
                    DIFFBENCH_TRY_HEADERS});
    return command;
  }
  Language language_;
  CompilerChoice choice_;
  fs::path work_dir_;
  std::string program_;
  std::vector<std::string> flags_;
  std::vector<fs::path> readable_; ///< for the compiler
};

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

bool has(const std::vector<std::string>& names, std::initializer_list<std::string_view> wanted) {
  return std::ranges::any_of(
      wanted, [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); });
}

/// By C++'s names (Itanium C++ ABI); of C's, which do not tell, by trying.
class FormSearch {
 public:
  FormSearch(std::vector<std::string> names, Compiler* compiler, const fs::path& file)
      : names_(std::move(names)), compiler_(compiler), file_(file) {}

  std::vector<FoundForm> all() {
    std::vector<FoundForm> found;
    const auto add = [&found](Form form, std::vector<Dtype> dtypes) {
      if (!dtypes.empty()) {
        found.push_back({form, std::move(dtypes)});
      }
    };
    std::vector<Dtype> session;
    if (has(names_, {"diffbench_create_f32"})) {
      session.push_back(Dtype::float32);
    }
    if (has(names_, {"diffbench_create_f64"})) {
      session.push_back(Dtype::float64);
    }
    add(Form::session, session);
    add(Form::solve, dtypes("solve", {"_Z5solvePKfPfiiif", "_Z5solvePfS_iiif"},
                            {"_Z5solvePKdPdiiid", "_Z5solvePdS_iiid"}, "int, int, int"));
    add(Form::step, dtypes("step", {"_Z4stepPKfPfiif", "_Z4stepPfS_iif"},
                           {"_Z4stepPKdPdiid", "_Z4stepPdS_iid"}, "int, int"));
    return found;
  }

  /// Of a file without any.
  [[nodiscard]] std::string nearest() const {
    std::vector<std::string> own;
    for (const std::string& name : names_) {
      const std::string shown = demangled(name);
      if (shown.starts_with("_")) {
        continue; // the compiler's and the linker's
      }
      own.push_back(shown.substr(0, shown.find('(')));
      for (const auto& [word, form] :
           {std::pair{"solve", solve_form}, std::pair{"step", step_form}}) {
        if (shown.find(word) != std::string::npos) {
          return fmt::format("it has {}, but the form is: {}", shown, form);
        }
      }
    }
    const std::string meant = did_you_mean("step", own) + did_you_mean("solve", own);
    return own.empty()
               ? fmt::format(
                     "it has no function that others can call; the simplest form "
                     "is: {}",
                     step_form)
               : fmt::format(
                     "it has {}{}, but no step or solve; the simplest form is: {}",
                     fmt::join(own.begin(),
                               own.begin() + std::min<std::ptrdiff_t>(5, std::ssize(own)), ", "),
                     own.size() > 5 ? ", ..." : "", step_form);
  }

 private:
  std::vector<Dtype> dtypes(const char* name, std::initializer_list<std::string_view> single,
                            std::initializer_list<std::string_view> twofold, const char* integers) {
    std::vector<Dtype> found;
    if (has(names_, single)) {
      found.push_back(Dtype::float32);
    }
    if (has(names_, twofold)) {
      found.push_back(Dtype::float64);
    }
    if (!found.empty() || !has(names_, {name})) {
      return found;
    }
    if (compiler_ == nullptr) {
      return {Dtype::float32}; // diffbench_try.h says so
    }
    for (const auto& [dtype, cell] :
         {std::pair{Dtype::float32, "float"}, std::pair{Dtype::float64, "double"}}) {
      for (const char* qualified : {"const ", ""}) {
        if (compiler_->has_type(file_, name,
                                fmt::format("void (*{{}})({}{}*, {}*, {}, {})", qualified, cell,
                                            cell, integers, cell))) {
          return {dtype};
        }
      }
    }
    return {};
  }

  std::vector<std::string> names_;
  Compiler* compiler_;
  fs::path file_;
};

/// The names that a Python file defines, without running it; its last line of stdout is read.
constexpr const char* python_names = R"(
import ast, sys
try:
    tree = ast.parse(open(sys.argv[1], "rb").read())
except (SyntaxError, ValueError, RecursionError) as error:
    line = getattr(error, "lineno", None)
    print(f"line {line}: {error.args[0]}" if line else str(error), flush=True)
    sys.exit(3)
names = []
for node in tree.body:
    names += [node.name] if hasattr(node, "name") else []
    targets = node.targets if isinstance(node, ast.Assign) else []
    names += [target.id for target in targets if isinstance(target, ast.Name)]
open(sys.argv[2], "w").write("\n".join(names))
)";

Submission prepare_python(const fs::path& file, std::optional<Form> wanted,
                          const fs::path& work_dir) {
  const auto python = python_with({"numpy"});
  if (!python) {
    throw Unavailable(
        "no python3 that can import numpy; get it with: apt-get install "
        "python3-numpy");
  }
  const fs::path copy = work_dir / "submission.py";
  const fs::path script = work_dir / "try_child.py";
  fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
  fs::copy_file(peer_script("try_child.py"), script, fs::copy_options::overwrite_existing);
  const fs::path list = work_dir / "names.txt";
  const Said said =
      run_command({*python, "-c", python_names, copy.string(), list.string()}, work_dir);
  constexpr int is_no_python = 3;
  if (said.status == is_no_python) {
    throw InvalidInput(fmt::format("{} is no Python: {}", file.filename().string(),
                                   said.text.substr(0, said.text.find('\n'))));
  }
  std::ifstream stream(list);
  if (said.status != 0 || !stream) {
    throw Unavailable(fmt::format("{} does not work here: {}", *python, one_line(said.text)));
  }
  const std::vector<std::string> names{std::istream_iterator<std::string>(stream), {}};
  std::vector<FoundForm> found;
  for (const Form form : {Form::solve, Form::step}) {
    if (has(names, {to_string(form)})) {
      found.push_back({form, {Dtype::float32, Dtype::float64}});
    }
  }
  Submission submission =
      take(Language::python, found, wanted,
           fmt::format("{} defines no step or solve; the forms are: def step(u, factor), which "
                       "returns the new array, and def solve(u, steps, factor){}",
                       file.filename().string(),
                       did_you_mean("step", names) + did_you_mean("solve", names)));
  submission.compiled = {
      .library = copy, .command = {}, .interpreter = {*python, "-B", script.string()}};
  return submission;
}

Submission prepare_cuda(const fs::path& file, std::optional<Form> wanted,
                        const CompilerChoice& choice, const fs::path& work_dir) {
  if (!choice.flags.empty()) {
    throw InvalidInput("--flags: the emulated device needs its own, so a .cu file takes none");
  }
  Submission submission = compile_emulated_cuda(file, wanted, work_dir, choice);
  let_others_read(submission.compiled.library);
  return submission;
}

} // namespace

void let_others_read(const fs::path& path) {
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec |
                            fs::perms::group_read | fs::perms::others_read);
}

std::optional<Language> known_language(const fs::path& file) {
  const auto known = std::ranges::find(endings, file.extension().string(), &FileEnding::end);
  return known == std::end(endings) ? std::nullopt : std::optional(known->language);
}

Language language_of(const fs::path& file) {
  if (const auto language = known_language(file)) {
    return *language;
  }
  throw InvalidInput(fmt::format("{}: files that end with .c, .cpp, .cu, .py or .so can be tried",
                                 file.filename().string()));
}

Submission take(Language language, const std::vector<FoundForm>& found, std::optional<Form> wanted,
                const std::string& why_none) {
  if (found.empty()) {
    throw InvalidInput(why_none);
  }
  const auto chosen = wanted ? std::ranges::find(found, *wanted, &FoundForm::form) : found.begin();
  if (chosen == found.end()) {
    throw InvalidInput(fmt::format("--form {}: the file has no such form; it has {}",
                                   to_string(*wanted), to_string(found.front().form)));
  }
  Submission submission{.language = language, .form = chosen->form, .dtypes = chosen->dtypes};
  for (const FoundForm& other : found) {
    if (other.form != chosen->form) {
      submission.other_forms.push_back(other.form);
    }
  }
  return submission;
}

Submission prepare(const fs::path& file, std::optional<Form> wanted, const CompilerChoice& choice,
                   const fs::path& work_dir) {
  const Language language = language_of(file);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    throw InvalidInput(fmt::format("there is no file {}", file.string()));
  }
  if (!std::ifstream(file)) {
    throw InvalidInput(fmt::format("{} cannot be read", file.string()));
  }
  let_others_read(work_dir);
  if (language == Language::python) {
    return prepare_python(file, wanted, work_dir);
  }
  if (language == Language::cuda) {
    return prepare_cuda(file, wanted, choice, work_dir);
  }
  std::optional<Compiler> compiler;
  CompiledSubmission compiled;
  if (language == Language::library) {
    compiled.library = work_dir / "submission.so";
    fs::copy_file(file, compiled.library, fs::copy_options::overwrite_existing);
  } else {
    compiler.emplace(language, choice, work_dir);
    compiled = compiler->compile(file);
  }
  let_others_read(compiled.library);
  std::vector<std::string> functions;
  for (Symbol& symbol : symbols_of(compiler ? compiled.library : fs::absolute(file), work_dir)) {
    if (symbol.defined() && symbol.function()) {
      functions.push_back(std::move(symbol.name));
    }
  }
  FormSearch search(std::move(functions), compiler ? &*compiler : nullptr, file);
  const std::vector<FoundForm> found = search.all();
  Submission submission =
      take(language, found, wanted,
           found.empty()
               ? fmt::format("{} cannot be tried: {}", file.filename().string(), search.nearest())
               : "");
  submission.compiled = std::move(compiled);
  if (compiler) {
    submission.for_races = compiler->compile_for_races(file, submission.compiled);
  }
  return submission;
}

} // namespace diffbench::bench
