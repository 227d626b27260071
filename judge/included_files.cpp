// SPDX-License-Identifier: Apache-2.0
#include "included_files.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

fs::path list_in(const fs::path& work_dir) { return work_dir / "included.d"; }

fs::path real_path(const fs::path& path) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(path, ignored);
  return ignored ? path : whole;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// The files of a rule of make's: "target: a b\<newline> c", where "\ " is a space of a name.
std::vector<fs::path> files_of_rule(const fs::path& rule) {
  const std::string text = text_of_file(rule);
  std::vector<fs::path> files;
  std::string name;
  const auto end_name = [&] {
    if (!name.empty()) {
      files.push_back(real_path(name));
      name.clear();
    }
  };
  for (std::size_t i = std::min(text.find(": "), text.size()); ++i < text.size();) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == ' ' || next == '#' || next == '\n')) {
      ++i;
      next == '\n' ? end_name() : name.push_back(next);
    } else if (text[i] == ' ' || text[i] == '\n') {
      end_name();
    } else {
      i += text[i] == '$' && next == '$' ? 1 : 0;
      name.push_back(text[i]);
    }
  }
  end_name();
  return files;
}

/// Of a list with colons between.
void add_folders(const std::string& list, std::vector<fs::path>& folders) {
  std::istringstream stream(list);
  for (std::string folder; std::getline(stream, folder, ':');) {
    if (!folder.empty()) {
      folders.push_back(real_path(folder));
    }
  }
}

/// Where a compiler looks for headers and has its own programs, by what it says itself.
std::vector<fs::path> searched_folders(std::vector<std::string> command,
                                       const std::string& language, const fs::path& work_dir) {
  command.insert(command.end(), {"-x", language, "-E", "-v", "-o", "/dev/null", "/dev/null"});
  std::istringstream lines(run_command(command, work_dir).text);
  std::vector<fs::path> folders;
  bool is_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("search starts here:")) {
      is_list = true;
    } else if (line.starts_with("End of search list")) {
      is_list = false;
    } else if (is_list && line.starts_with(' ')) {
      folders.push_back(real_path(line.substr(1)));
      // In Debian 13 the kernel's headers of a machine are links to files elsewhere.
      folders.push_back(real_path(fs::path(line.substr(1)) / "asm/types.h").parent_path());
    } else if (line.starts_with("COMPILER_PATH=") || line.starts_with("LIBRARY_PATH=")) { // GCC
      add_folders(line.substr(line.find('=') + 1), folders);
    } else if (constexpr std::string_view of_clang = "InstalledDir: "; line.starts_with(of_clang)) {
      folders.push_back(real_path(line.substr(of_clang.size())));
      folders.push_back(folders.back().parent_path() / "lib");
    }
  }
  return folders;
}

} // namespace

std::string text_of_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> readable_files(const std::vector<std::string>& command,
                                     const std::string& language, const fs::path& work_dir,
                                     const CompilerChoice& choice, const fs::path& file) {
  std::vector<fs::path> paths = searched_folders(command, language, work_dir);
  if (const char* const libraries = std::getenv("LD_LIBRARY_PATH")) { // of the compiler itself
    add_folders(libraries, paths);
  }
  std::erase_if(paths, [](const fs::path& path) { return lies_in(path, "/usr"); });
  for (const std::string& word : command) {
    for (const std::size_t prefix : {std::size_t{0}, std::size_t{2}, word.find('=') + 1}) {
      std::error_code error;
      if (&word != &command.front() && prefix < word.size() &&
          fs::exists(word.substr(prefix), error)) {
        paths.push_back(real_path(word.substr(prefix))); // -IFOLDER, -include FILE
      }
    }
  }
  paths.push_back(fs::absolute(file));
  if (choice.own_files) {
    paths.insert(paths.end(), choice.own_files->begin(), choice.own_files->end());
  } else {
    paths.push_back(fs::absolute(file).parent_path());
  }
  return paths;
}

std::vector<std::string> listing_flags(const fs::path& work_dir) {
  return {"-MD", "-MF", list_in(work_dir).string()};
}

std::vector<fs::path> files_of_the_user(std::vector<std::string> command,
                                        const std::string& language, const fs::path& work_dir) {
  std::vector<fs::path> folders = searched_folders(std::move(command), language, work_dir);
  folders.push_back(real_path(work_dir));
  std::vector<fs::path> files = files_of_rule(list_in(work_dir));
  std::erase_if(files, [&folders](const fs::path& file) {
    return std::ranges::any_of(folders,
                               [&file](const fs::path& folder) { return lies_in(file, folder); });
  });
  return files;
}

void refuse_foreign_files(const std::vector<fs::path>& files, const CompilerChoice& choice,
                          const fs::path& file) {
  if (!choice.own_files) {
    return;
  }
  std::vector<fs::path> own = {real_path(file)};
  std::ranges::transform(*choice.own_files, std::back_inserter(own), real_path);
  for (const fs::path& included : files) {
    if (std::ranges::find(own, included) == own.end()) {
      throw InvalidInput(fmt::format(
          "{} includes {}, which is neither its own nor a header of the class or the system",
          file.filename().string(), included.string()));
    }
  }
}

} // namespace diffbench::bench
