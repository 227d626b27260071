// SPDX-License-Identifier: Apache-2.0
// A shared library that is loaded while the program runs, because the program must start, and the
// rest of it run, where the library is missing.
#pragma once

#include <string>

namespace diffbench {

class SharedLibrary {
 public:
  /// Whether libraries that are loaded later find its symbols.
  enum class Symbols { own, global };

  /// Loads it with all that it needs; whether that worked, loaded() says.
  explicit SharedLibrary(const std::string& file, Symbols symbols = Symbols::own);
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  /// Why it could not be loaded, in the words of the system.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Sets `symbol` to what the library has of that name, null for nothing; whether there is any.
  template <typename Symbol>
  bool find(const char* name, Symbol*& symbol) const {
    symbol = reinterpret_cast<Symbol*>(address(name));
    return symbol != nullptr;
  }
  /// Throws Unavailable, "FILE has no function NAME", where there is none.
  template <typename Function>
  void require(const char* name, Function*& function) const {
    if (!find(name, function)) {
      lacks(name);
    }
  }

  /// It stays loaded until the process ends.
  void keep() { handle_ = nullptr; }

 private:
  [[nodiscard]] void* address(const char* name) const;
  [[noreturn]] void lacks(const char* name) const;

  std::string file_;
  std::string error_;
  void* handle_;
};

} // namespace diffbench
