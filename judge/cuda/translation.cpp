// SPDX-License-Identifier: Apache-2.0
#include "translation.hpp"

#include "diffbench/errors.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <ranges>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace diffbench::bench {
namespace {

enum class TokenKind { word, number, text, sign };

struct Token {
  TokenKind kind{};
  std::size_t begin = 0, end = 0; ///< in the text
  std::size_t file = 0;           ///< of Tokens::files
  int line = 0;
};

// The tokens of the user's files, one after the other, and the words of all others.
struct Tokens {
  std::string_view text;
  std::vector<Token> all;
  std::vector<std::string> files;
  std::set<std::string_view, std::less<>> foreign_words;
  struct Flags {
    std::size_t begin, end;
    bool foreign;
  };
  std::vector<Flags> flags;   ///< of line markers
  std::vector<Token> pragmas; ///< of the user's files, a line each
};

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Reads a text that the preprocessor has written.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) { tokens_.text = text; }

  Tokens read() {
    while (at_ < text().size()) {
      const char c = text()[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        begins_line_ = true;
        continue;
      }
      if (c == '#' && begins_line_) {
        read_marker();
        continue;
      }
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
        continue;
      }
      begins_line_ = false;
      read_token(c);
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] std::string_view text() const { return tokens_.text; }
  [[nodiscard]] char look(std::size_t ahead) const {
    return at_ + ahead < text().size() ? text()[at_ + ahead] : '\0';
  }

  // # 12 "my.cu" 2
  void read_marker() {
    const std::size_t end = std::min(text().find('\n', at_), text().size());
    const std::string_view marker = text().substr(at_, end - at_);
    const std::size_t quote = marker.find('"');
    const std::size_t last = marker.rfind('"');
    if (quote != std::string_view::npos && last > quote && marker.size() > 2 &&
        std::isdigit(static_cast<unsigned char>(marker[2])) != 0) {
      std::from_chars(marker.data() + 2, marker.data() + quote, line_);
      --line_;
      const std::string name(marker.substr(quote + 1, last - quote - 1));
      const std::string_view flags = marker.substr(last + 1);
      const bool foreign = flags.find('3') != std::string_view::npos;
      user_ = !foreign && !name.starts_with('<');
      tokens_.flags.push_back({at_ + last + 1, end, foreign});
      if (user_) {
        const auto known = std::find(tokens_.files.begin(), tokens_.files.end(), name);
        file_ = static_cast<std::size_t>(known - tokens_.files.begin());
        if (known == tokens_.files.end()) {
          tokens_.files.push_back(name);
        }
      }
    } else if (user_) {
      tokens_.pragmas.push_back({TokenKind::text, at_, end, file_, line_});
    }
    at_ = end;
  }

  void read_token(char c) {
    const std::size_t begin = at_;
    TokenKind kind = TokenKind::sign;
    const int line = line_;
    if (starts_word(c)) {
      kind = TokenKind::word;
      while (continues_word(look(0))) {
        ++at_;
      }
      if (look(0) == '"' && text()[at_ - 1] == 'R') {
        kind = TokenKind::text;
        skip_raw_text();
      }
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
               (c == '.' && std::isdigit(static_cast<unsigned char>(look(1))) != 0)) {
      kind = TokenKind::number;
      skip_number();
    } else if (c == '"' || c == '\'') {
      kind = TokenKind::text;
      skip_text(c);
    } else {
      at_ += c == ':' && look(1) == ':' ? 2 : 1;
    }
    if (user_) {
      tokens_.all.push_back({kind, begin, at_, file_, line});
    } else if (kind == TokenKind::word) {
      tokens_.foreign_words.insert(text().substr(begin, at_ - begin));
    }
  }

  void skip_number() {
    while (continues_word(look(0)) || look(0) == '.' ||
           (look(0) == '\'' && continues_word(look(1))) ||
           ((look(0) == '+' || look(0) == '-') && at_ > 0 &&
            std::string_view("eEpP").find(text()[at_ - 1]) != std::string_view::npos)) {
      ++at_;
    }
  }
  void skip_text(char quote) {
    for (++at_; at_ < text().size() && text()[at_] != quote && text()[at_] != '\n'; ++at_) {
      at_ += text()[at_] == '\\' ? 1 : 0;
    }
    at_ = std::min(at_ + 1, text().size());
  }
  void skip_raw_text() {
    const std::size_t open = std::min(text().find('(', at_), text().size());
    const std::string end = ")" + std::string(text().substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t close = text().find(end, open);
    const std::size_t stop = close == std::string_view::npos ? text().size() : close + end.size();
    line_ += static_cast<int>(std::count(text().begin() + static_cast<std::ptrdiff_t>(at_),
                                         text().begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    at_ = stop;
  }

  Tokens tokens_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  bool user_ = false;
  std::size_t file_ = 0;
  int line_ = 1;
};

std::string without_folder(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Translator {
 public:
  explicit Translator(std::string_view preprocessed, QuickKernels quick = QuickKernels::none)
      : tokens_(Tokenizer(preprocessed).read()), quick_(quick) {}

  CudaTranslation translate() {
    refuse_what_is_not_emulated();
    find_functions();
    waits_ = spins();
    quick_ = waits_ ? QuickKernels::none : quick_; // what others store is seen by the instruments
    for (std::size_t i = 0; i < size(); ++i) {
      if (is(i, "__global__")) {
        translate_kernel(i);
      } else if (is(i, "__shared__")) {
        translate_shared(i);
      } else if (is(i, "__constant__") || is(i, "__managed__")) {
        translate_variable(i);
      } else if (is(i, "__device__")) {
        is_variable(i) ? translate_variable(i) : translate_function(i);
      } else if (is(i, "__host__")) {
        erase(i);
      } else if (is(i, "__align__")) {
        replace(tokens_.all[i].begin, tokens_.all[i].end, "__attribute__((aligned");
        insert_after(closing(i + 1), "))");
      } else if (is(i, "__noinline__") && !is(i - 1, "(")) {
        replace(tokens_.all[i].begin, tokens_.all[i].end, "__attribute__((noinline))");
      } else if (opens_chevrons(i)) {
        translate_launch(i);
      } else if (is(i + 1, "(") &&
                 is_any(i, {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc",
                            "cudaMallocPitch", "cudaMallocAsync"})) {
        name_array(i);
      } else if (is(i, "cudaLaunchKernel") || is(i, "cudaLaunchCooperativeKernel")) {
        erase_cast_of_kernel(i);
      }
    }
    for (const Tokens::Flags& flags : tokens_.flags) {
      replace(flags.begin, flags.end, flags.foreign ? " 3" : ""); // nobody includes anybody
    }
    return {with_quick_kernels(applied()), tokens_.files, functions_};
  }

  std::vector<std::string> unknown_names() const {
    std::vector<std::string> messages;
    std::set<std::string_view> named;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::string_view word = text(i);
      if (tokens_.all[i].kind == TokenKind::word && is_name_of_cuda(word) &&
          !tokens_.foreign_words.contains(word) && named.insert(word).second) {
        const std::string successor = successor_of(word);
        messages.push_back(successor.empty() ? fmt::format("{}: {} is not emulated", place(i), word)
                                             : fmt::format("{}: CUDA has no {} any more: {}",
                                                           place(i), word, successor));
      }
    }
    return messages;
  }

 private:
  [[nodiscard]] std::size_t size() const { return tokens_.all.size(); }
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return i < size() ? tokens_.text.substr(tokens_.all[i].begin,
                                            tokens_.all[i].end - tokens_.all[i].begin)
                      : std::string_view();
  }
  [[nodiscard]] bool is(std::size_t i, std::string_view word) const { return text(i) == word; }
  [[nodiscard]] bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
    return std::ranges::find(words, text(i)) != words.end();
  }
  [[nodiscard]] bool opens(std::size_t i) const { return is_any(i, {"(", "[", "{"}); }
  [[nodiscard]] bool closes(std::size_t i) const { return is_any(i, {")", "]", "}"}); }
  [[nodiscard]] bool is_word(std::size_t i) const {
    return i < size() && tokens_.all[i].kind == TokenKind::word;
  }
  [[nodiscard]] std::string place(const Token& token) const {
    return fmt::format("{}:{}", without_folder(tokens_.files[token.file]), token.line);
  }
  [[nodiscard]] std::string place(std::size_t i) const {
    return place(tokens_.all[std::min(i, size() - 1)]);
  }
  [[noreturn]] void refuse(std::size_t i, std::string_view what) const {
    throw InvalidInput(fmt::format("{}: {}", place(i), what));
  }

  // Of what CUDA had once; empty: of nothing.
  static std::string successor_of(std::string_view word) {
    constexpr std::string_view without_mask[] = {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor",
                                                 "__any",  "__all",     "__ballot"};
    if (std::ranges::find(without_mask, word) != std::end(without_mask)) {
      return fmt::format("{}_sync(0xffffffff, ...)", word);
    }
    if (word == "texture" || word == "cudaBindTexture") {
      return "cudaTextureObject_t, or a pointer to const";
    }
    constexpr std::string_view of_threads = "cudaThread";
    if (!word.starts_with(of_threads)) {
      return {};
    }
    return word == "cudaThreadExit" ? "cudaDeviceReset"
                                    : fmt::format("cudaDevice{}", word.substr(of_threads.size()));
  }

  static bool is_name_of_cuda(std::string_view word) {
    const auto after = [word](std::string_view prefix) {
      return word.starts_with(prefix) && word.size() > prefix.size() &&
             std::isupper(static_cast<unsigned char>(word[prefix.size()])) != 0;
    };
    const auto begins = [word](std::string_view prefix) { return word.starts_with(prefix); };
    return after("cuda") || after("cu") || after("atomic") || after("tex") || after("surf") ||
           begins("cublas") || begins("curand") || begins("cufft") || begins("cusparse") ||
           begins("__nv") || begins("__shfl") || begins("__half") || word == "half" ||
           !successor_of(word).empty() || word == "texture" || word == "thrust" || word == "cub" ||
           word == "wmma" || (begins("__") && word.ends_with("_sync"));
  }

  void refuse_what_is_not_emulated() const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (is_any(i, {"asm", "__asm__", "__asm"})) {
        refuse(i, "inline assembly (PTX) is not emulated");
      }
      if (is_word(i) && (is_of_the_emulation(text(i)) || (is(i, "diffbench") && !is_detail(i)))) {
        refuse(i, fmt::format("{} belongs to the emulated device: choose another name", text(i)));
      }
      if (is_word(i) && unwatches(text(i))) {
        refuse(i, fmt::format("{} would hide what the code accesses", text(i)));
      }
    }
    for (const Token& pragma : tokens_.pragmas) {
      if (unwatches(tokens_.text.substr(pragma.begin, pragma.end - pragma.begin))) {
        throw InvalidInput(
            fmt::format("{}: this pragma would hide what the code accesses", place(pragma)));
      }
    }
  }

  // What watches the code, and says what it found.
  static bool is_of_the_emulation(std::string_view word) {
    return word.starts_with("diffbench_try_") || word.starts_with("__tsan_") ||
           word.starts_with("__wrap_") || word.starts_with("__real_");
  }
  // What macros of the emulation's headers become.
  [[nodiscard]] bool is_detail(std::size_t i) const {
    return is(i + 1, "::") && is(i + 2, "emulation") && is(i + 3, "::") && is(i + 4, "detail");
  }
  static bool unwatches(std::string_view code) {
    return code.find("no_sanitize") != std::string_view::npos ||
           code.find("disable_sanitizer") != std::string_view::npos;
  }

  // The bracket that goes with that at i, in steps of 1 or -1; size() where there is none.
  [[nodiscard]] std::size_t partner(std::size_t i, std::size_t step) const {
    int depth = 0;
    for (; i < size(); i += step) { // below 0 it is above size()
      depth += opens(i) ? 1 : closes(i) ? -1 : 0;
      if (depth == 0 && (opens(i) || closes(i))) {
        return i;
      }
    }
    return size();
  }
  [[nodiscard]] std::size_t closing(std::size_t i) const { return partner(i, 1); }
  [[nodiscard]] std::size_t opening(std::size_t i) const {
    return partner(i, static_cast<std::size_t>(-1));
  }

  void replace(std::size_t begin, std::size_t end, std::string with) {
    edits_.push_back({begin, end, std::move(with)});
  }
  void erase(std::size_t i) { replace(tokens_.all[i].begin, tokens_.all[i].end, ""); }
  void insert_before(std::size_t i, std::string what) {
    replace(tokens_.all[i].begin, tokens_.all[i].begin, std::move(what));
  }
  void insert_after(std::size_t i, std::string what) {
    replace(tokens_.all[i].end, tokens_.all[i].end, std::move(what));
  }

  std::string applied() {
    // What is inserted at a place comes before what is taken away there.
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::string result;
    std::size_t done = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < edit.end && edit.begin < done) {
        continue; // of what is taken away
      }
      if (edit.begin > done) {
        result += tokens_.text.substr(done, edit.begin - done);
      }
      result += edit.with;
      done = std::max(done, edit.end);
    }
    return result += tokens_.text.substr(done);
  }

  // The tokens from `begin` to before `end`, with spaces; a line's end where there is one.
  [[nodiscard]] std::string joined(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < end; ++i) {
      result += (result.empty() ? "" : " ") + std::string(text(i));
    }
    return result;
  }

  // while (*flag == 0);
  [[nodiscard]] bool spins() const {
    bool on_shared = false, waits = false;
    for (std::size_t i = 0; i < size(); ++i) {
      on_shared |= is(i, "volatile") || text(i).starts_with("atomic");
      const std::size_t body = is(i, "while") ? closing(i + 1) + 1 : size();
      waits |= is(body, ";") || (is(body, "{") && is(body + 1, "}"));
    }
    return on_shared && waits;
  }

  // Functions

  // Of the declaration whose first token is i: the "(" of its parameters, if it is a function's.
  // Skips the parentheses of attributes.
  [[nodiscard]] std::size_t parameters_of(std::size_t i) const {
    for (; i < size(); ++i) {
      if (is(i, "template") && is(i + 1, "<")) {
        int depth = 0;
        for (++i; i < size(); ++i) {
          depth += is(i, "<") ? 1 : is(i, ">") ? -1 : 0;
          if (depth == 0) {
            break;
          }
        }
      } else if (is_any(i, {"__attribute__", "alignas", "decltype", "noexcept"})) {
        i = closing(i + 1);
      } else if (is(i, "operator") || is(i, "(")) {
        return i;
      } else if (is_any(i, {"=", ";", "{", "}"}) || (is(i, "[") && !is(i + 1, "["))) {
        return size();
      } else if (is(i, "[")) {
        i = closing(i);
      }
    }
    return size();
  }

  [[nodiscard]] std::size_t body_of(std::size_t parameters) const {
    const std::size_t close = closing(parameters);
    for (std::size_t i = close + 1; i < size() && !is(i, ";") && !is(i, "}"); ++i) {
      if (is(i, "{")) {
        return i;
      }
      if (is(i, "(")) {
        i = closing(i);
      }
    }
    return size();
  }

  // Those outside of all braces but those of extern "C".
  void find_functions() {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (is(i, "extern") && text(i + 1).starts_with('"') && is(i + 2, "{")) {
        i += 2;
        begin = i + 1;
      } else if (is(i, ";") || is(i, "}")) {
        begin = i + 1;
      } else if (is(i, "{")) {
        note_function(begin, i);
        i = closing(i);
        begin = i + 1;
      }
    }
  }

  void note_function(std::size_t begin, std::size_t body) {
    const std::size_t open = parameters_of(begin);
    if (open >= body || open == begin || !is_word(open - 1) || is(open, "operator")) {
      return;
    }
    DefinedFunction function;
    function.name = std::string(text(open - 1));
    function.line = tokens_.all[open - 1].line;
    for (std::size_t i = begin; i < open; ++i) {
      function.kernel |= is(i, "__global__");
      function.takes_template |= is(i, "template");
    }
    const std::size_t close = closing(open);
    std::size_t first = open + 1;
    for (std::size_t i = open + 1; i <= close && i < size(); ++i) {
      if (is(i, "(") && i != close) {
        i = closing(i);
      } else if ((is(i, ",") || i == close) && first < i) {
        function.parameters.push_back(joined(first, i));
        first = i + 1;
      }
    }
    // A function that reads a clock is seen where it is called (emulation/src/stopwatch.cpp).
    const auto reads_clock = [this](std::size_t i) {
      return is_any(i, {"gettimeofday", "clock_gettime", "clock", "omp_get_wtime", "now"});
    };
    if (!function.kernel && !function.takes_template && !is(begin, "extern") &&
        std::ranges::any_of(std::views::iota(body, closing(body)), reads_clock)) {
      insert_before(begin, "__attribute__((noinline)) ");
    }
    functions_.push_back(std::move(function));
  }

  // cudaMalloc((void**)&d_u, n): the array has that name, in what is said of it.
  void name_array(std::size_t i) {
    const std::size_t end = closing(i + 1);
    std::size_t first = i + 2, comma = i + 2;
    for (; comma < end && !is(comma, ","); ++comma) {
      first = is(comma, "&") ? comma + 1 : first;
    }
    std::string name = joined(first, comma);
    name.erase(std::ranges::remove(name, ' ').begin(), name.end());
    if (first > i + 2 && end < size() && name.find_first_of("\"'\\)") == std::string::npos) {
      insert_before(i, fmt::format("(::diffbench::emulation::detail::name_next(\"{}\"), ", name));
      insert_after(end, ")");
    }
  }

  // Kernels and launches

  void translate_kernel(std::size_t i) {
    erase(i);
    const std::size_t open = parameters_of(i + 1);
    std::size_t name = open - 1;
    for (int depth = 0; name < open && (is(name, ">") || depth > 0); --name) { // k<int>
      depth += is(name, ">") ? 1 : is(name, "<") ? -1 : 0;
    }
    if (open >= size() || !is_word(name)) {
      refuse(i, "__global__ that is not followed by a function");
    }
    const std::size_t body = body_of(open);
    if (body == size()) {
      return; // a declaration
    }
    const std::size_t end = closing(body);
    if (end == size()) {
      refuse(body, "the kernel's body is not closed");
    }
    for (std::size_t inner = body; inner < end; ++inner) {
      if (opens_chevrons(inner)) {
        refuse(inner, "launching a kernel from a kernel is not emulated");
      }
    }
    const std::string quick = quick_ == QuickKernels::none ? "" : std::string(1, quick_mark);
    insert_after(body,
                 fmt::format(" ::emulated_kernel(\"{}\", [=]() mutable {{{}", text(name), quick));
    insert_before(end, quick + (waits_ ? "}, true);" : "});"));
    if (quick_ != QuickKernels::none) {
      const Token& first = tokens_.all[body];
      kernels_.push_back(fmt::format("\n# {} \"{}\"\n", first.line, tokens_.files[first.file]));
    }
  }

  // Copies what lies between each two marks behind the second one.
  [[nodiscard]] std::string with_quick_kernels(const std::string& text) const {
    const std::string_view begins =
        quick_ == QuickKernels::of_clang
            ? "}, [=]() __attribute__((no_sanitize(\"thread\"))) mutable {"
            : "}, [=]() mutable __attribute__((no_sanitize(\"thread\"))) {";
    std::string result;
    std::size_t done = 0;
    for (const std::string& line : kernels_) {
      const std::size_t first = text.find(quick_mark, done),
                        second = text.find(quick_mark, first + 1);
      const std::string body = text.substr(first + 1, second - first - 1);
      result += text.substr(done, first - done) + body;
      result += begins;
      result += line + body;
      done = second + 1;
    }
    return result + text.substr(done);
  }

  // A function of the device is part of each kernel that calls it, unless it calls itself.
  void translate_function(std::size_t i) {
    const std::size_t open = parameters_of(i + 1);
    bool inlines = quick_ != QuickKernels::none && !is(i - 1, "]") && open < size();
    const std::size_t body = inlines ? body_of(is(open, "operator") ? open + 1 : open) : size();
    inlines = inlines && (body < size() || is(open, "operator"));
    for (std::size_t k = body; inlines && k < closing(body); ++k) {
      inlines = is(open, "operator") || text(k) != text(open - 1);
    }
    for (std::size_t k = i; inlines && k < open; ++k) {
      inlines = !is(k, "noinline") && !is(k, "__noinline__");
    }
    replace(tokens_.all[i].begin, tokens_.all[i].end,
            inlines ? "__attribute__((always_inline))" : "");
  }

  // With any spaces between, as formatters leave them: << <blocks, threads>> >(...).
  [[nodiscard]] bool three(std::size_t i, std::string_view sign) const {
    return is(i, sign) && is(i + 1, sign) && is(i + 2, sign);
  }
  [[nodiscard]] bool opens_chevrons(std::size_t i) const { return three(i, "<"); }
  [[nodiscard]] bool closes_chevrons(std::size_t i) const {
    return three(i, ">") && is(i + 3, "(");
  }

  // The first token of what stands before <<<: name, ns::name<types>, (pointer).
  [[nodiscard]] std::size_t kernel_before(std::size_t chevrons) const {
    std::size_t i = chevrons - 1;
    if (is(i, ")")) {
      return opening(i);
    }
    while (true) {
      while (is(i, "]")) {
        i = opening(i) - 1;
      }
      if (is(i, ">")) {
        int depth = 0;
        for (; i < size(); --i) {
          depth += is(i, ">") ? 1 : is(i, "<") ? -1 : 0;
          if (is(i, ")")) {
            i = opening(i);
          }
          if (depth == 0) {
            break;
          }
        }
        --i;
      }
      if (!is_word(i)) {
        return size();
      }
      if (!is(i - 1, "::")) {
        return i;
      }
      if (!is_word(i - 2) && !is(i - 2, ">")) {
        return i - 1; // ::name
      }
      i -= 2;
    }
  }

  void translate_launch(std::size_t chevrons) {
    const std::size_t kernel = chevrons == 0 ? size() : kernel_before(chevrons);
    std::size_t end = chevrons + 3;
    for (int depth = 0; end < size() && !(depth == 0 && closes_chevrons(end)); ++end) {
      depth += opens(end) ? 1 : closes(end) ? -1 : 0;
    }
    const std::size_t arguments = end + 3;
    if (kernel >= size() || !is(arguments, "(") || closing(arguments) == size()) {
      refuse(chevrons, "a launch is written kernel<<<blocks, threads>>>(arguments)");
    }
    std::istringstream lines(
        std::string(tokens_.text.substr(tokens_.all[chevrons + 3].begin,
                                        tokens_.all[end].begin - tokens_.all[chevrons + 3].begin)));
    // The configuration comes first, and its line ends stay where they are.
    std::string configuration;
    for (std::string line; std::getline(lines, line);) {
      configuration += line.starts_with('#') ? "" : line + " "; // a marker: of NULL, for one
    }
    insert_before(kernel, "(::emulated_configure(" + configuration + "), ");
    const std::size_t from = tokens_.all[chevrons].begin;
    const std::size_t to = tokens_.all[end + 2].end;
    const std::string_view replaced = tokens_.text.substr(from, to - from);
    replace(
        from, to,
        std::string(static_cast<std::size_t>(std::count(replaced.begin(), replaced.end(), '\n')),
                    '\n'));
    insert_after(closing(arguments), ")");
  }

  // cudaLaunchKernel((void*)k, ...): the types of the arguments are k's.
  void erase_cast_of_kernel(std::size_t i) {
    std::size_t at = i + 2;
    if (!is(i + 1, "(") || !is(at, "(")) {
      return;
    }
    const std::size_t close = closing(at);
    const std::string cast = joined(at + 1, close);
    if (cast == "void *" || cast == "const void *" || cast == "void const *") {
      for (; at <= close; ++at) {
        erase(at);
      }
    }
  }

  // Variables

  [[nodiscard]] bool is_variable(std::size_t device) const {
    const std::size_t open = parameters_of(device + 1);
    if (is(open + 1, "*")) {
      return true; // a pointer to a function
    }
    for (std::size_t i = device + 1; i < std::min(open, size()); ++i) {
      if (is_any(i, {"=", ";", "[", "{"})) {
        return true;
      }
    }
    return open >= size();
  }

  void translate_variable(std::size_t i) {
    // What can only be read is what it is everywhere.
    for (std::size_t k = i + 1; k < size() && !is(k, ";") && !is(k, "="); ++k) {
      if (is(k, "constexpr")) {
        return erase(i);
      }
    }
    for (std::size_t k = i; k-- > 0 && !is(k, ";") && !is(k, "}") && !is(k, "{");) {
      // __device__ __constant__: the first one says it.
      if (is_any(k, {"constexpr", "template", "EMULATED_CONSTANT", "__constant__", "__device__",
                     "__managed__"})) {
        return erase(i);
      }
    }
    const auto marked = [&](std::string_view word) { return is(i, word) || is(i + 1, word); };
    std::size_t begin = i;
    while (begin > 0 && (is_word(begin - 1) || is(begin - 1, "*"))) {
      --begin;
    }
    // What is const itself would have to lie in another section; what it points to would not.
    std::size_t end = i, last_pointer = begin;
    for (int angles = 0; end < size() && !is(end, ";") && !is(end, "=") && !is(end, "[") &&
                         !is(end, "{") && !(is(end, ",") && angles == 0);
         ++end) {
      angles += is(end, "<") ? 1 : is(end, ">") ? -1 : 0;
      last_pointer = is(end, "*") && angles == 0 ? end : last_pointer;
    }
    for (std::size_t k = last_pointer; k < end; ++k) {
      if (is(k, "const") && last_pointer == begin && is(end, "=")) {
        return erase(i); // perhaps the size of an array
      }
    }
    replace(tokens_.all[i].begin, tokens_.all[i].end,
            fmt::format("__attribute__((section(\"emulated_{}\"), used))",
                        marked("__constant__")  ? "constant"
                        : marked("__managed__") ? "managed"
                                                : "device"));
    for (std::size_t k = last_pointer; k < end; ++k) {
      if (is(k, "const")) {
        erase(k);
      }
    }
  }

  // The names of "float a[4][4], b": those at the end, or before a bracket.
  [[nodiscard]] std::vector<std::string> declared_names(std::size_t begin, std::size_t end) const {
    std::vector<std::string> names;
    std::string last;
    int angles = 0;
    bool named = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (is(i, "[")) {
        if (!named) {
          names.push_back(last);
          named = true;
        }
        i = closing(i);
      } else if (is(i, "(") || is(i, "{")) {
        i = closing(i);
      } else if (is(i, "<")) {
        ++angles;
      } else if (is(i, ">")) {
        --angles;
      } else if (is(i, ",") && angles == 0) {
        if (!named) {
          names.push_back(last);
        }
        named = false;
      } else if (is_word(i)) {
        last = std::string(text(i));
      }
    }
    if (!named) {
      names.push_back(last);
    }
    return names;
  }

  // Of a variable outside functions, whatever else has its name.
  void replace_uses(std::size_t behind, const std::string& name, const std::string& with) {
    for (std::size_t k = behind; k < size(); ++k) {
      if (is(k, name) && !is(k - 1, ".") && !(is(k - 1, ">") && is(k - 2, "-"))) {
        replace(tokens_.all[k].begin, tokens_.all[k].end, with);
      }
    }
  }

  void translate_shared(std::size_t i) {
    std::size_t begin = i;
    bool dynamic = false;
    while (begin > 0 && is_any(begin - 1, {"extern", "static", "volatile", "__device__"})) {
      --begin;
    }
    std::size_t end = i;
    for (; end < size() && !is(end, ";"); ++end) {
      if (opens(end)) {
        end = closing(end);
      }
      if (is(end, "=")) {
        refuse(end, "a __shared__ variable cannot be initialized");
      }
    }
    for (std::size_t k = begin; k < end; ++k) {
      dynamic |= is(k, "extern");
      if (is_any(k, {"extern", "static", "__device__"}) || k == i) {
        erase(k);
      }
    }
    const std::vector<std::string> names = declared_names(begin, end);
    if (dynamic) {
      translate_dynamic_shared(begin, end, names);
      return;
    }
    const std::string type = fmt::format("emulated_variables_{}", count_++);
    if (depth_at(begin) == 0) {
      insert_before(begin, "namespace { struct " + type + " { ");
      insert_after(end, " }; }");
      for (const std::string& name : names) {
        replace_uses(end, name,
                     fmt::format("::emulated_shared<{}>(\"{}\", {}).{}", type,
                                 tokens_.files[tokens_.all[i].file], tokens_.all[i].line, name));
      }
      return;
    }
    insert_before(begin, "struct " + type + " { ");
    std::string after = fmt::format(" }}; auto& {0}_ = ::emulated_shared<{0}>();", type);
    for (const std::string& name : names) {
      after += fmt::format(" auto& {0} = {1}_.{0};", name, type);
    }
    insert_after(end, after);
  }

  // extern __shared__ T name[];
  void translate_dynamic_shared(std::size_t begin, std::size_t end,
                                const std::vector<std::string>& names) {
    std::size_t bracket = begin;
    while (bracket < end && !is(bracket, "[")) {
      ++bracket;
    }
    if (names.size() != 1 || bracket == end || !is(bracket + 1, "]") || bracket + 2 != end) {
      refuse(begin, "extern __shared__ is written extern __shared__ type name[]");
    }
    erase(bracket);
    erase(bracket + 1);
    std::string type;
    for (std::size_t k = begin; k + 1 < bracket; ++k) {
      if (is_any(k, {"__attribute__", "alignas", "__align__"})) {
        k = closing(k + 1); // harmless where it stays
      } else if (!is_any(k, {"extern", "static", "__shared__", "__device__"})) {
        type += std::string(text(k)) + " ";
        erase(k);
      }
    }
    if (depth_at(begin) == 0) {
      erase(bracket - 1);
      insert_before(end, fmt::format("extern char emulated_nothing_{}", count_++)); // attributes'
      replace_uses(end, names.front(),
                   fmt::format("static_cast<{}*>(::emulated_dynamic_shared())", type));
    } else {
      insert_before(bracket - 1, type + "* ");
      insert_before(end, " = static_cast<" + type + "*>(::emulated_dynamic_shared())");
    }
  }

  // namespace a::inline b [[deprecated]] {
  [[nodiscard]] bool opens_namespace(std::size_t brace) const {
    for (std::size_t i = brace - 1; i < size(); --i) { // below 0 it is above size()
      if (is(i, "]") || is(i, ")")) {
        i = opening(i);
      } else if (is(i, "namespace") || (!is_word(i) && !is(i, "::"))) {
        return is(i, "namespace");
      }
    }
    return false;
  }

  // Braces round a token that are neither a namespace's nor extern "C"'s.
  [[nodiscard]] int depth_at(std::size_t token) const {
    int depth = 0;
    std::vector<bool> counts;
    for (std::size_t i = 0; i < token; ++i) {
      if (is(i, "{")) {
        const bool plain = i > 0 && (text(i - 1).starts_with('"') || opens_namespace(i));
        counts.push_back(!plain);
        depth += plain ? 0 : 1;
      } else if (is(i, "}") && !counts.empty()) {
        depth -= counts.back() ? 1 : 0;
        counts.pop_back();
      }
    }
    return depth;
  }

  struct Edit {
    std::size_t begin, end;
    std::string with;
  };
  Tokens tokens_;
  std::vector<Edit> edits_;
  std::vector<DefinedFunction> functions_;
  int count_ = 0;
  static constexpr char quick_mark = '\1';
  QuickKernels quick_;
  bool waits_ = false;
  std::vector<std::string> kernels_; ///< line markers of their bodies
};

} // namespace

CudaTranslation translate_cuda(std::string_view preprocessed, QuickKernels quick) {
  return Translator(preprocessed, quick).translate();
}

std::vector<std::string> unknown_cuda_names(std::string_view preprocessed) {
  return Translator(preprocessed).unknown_names();
}

} // namespace diffbench::bench
