// SPDX-License-Identifier: Apache-2.0
// The reader trusts nothing: the header is parsed strictly, and the size that it claims is compared
// with the file's before memory is allocated.
// Format: numpy.lib.format. Magic "\x93NUMPY", version (2 bytes), length of the header (2 bytes in
// version 1, 4 afterwards, little-endian), the header, the data. The header is a Python dict
// literal with the keys descr, fortran_order and shape, padded with spaces and a newline.
#include "diffbench/npy.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <bit>
#include <charconv>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench {

namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = 1 << 20;
constexpr std::size_t header_alignment = 64; // as numpy: data that is mapped is aligned

[[noreturn]] void reject(const std::filesystem::path& name, const std::string& why) {
  throw InvalidInput("cannot read '" + name.string() + "': " + why);
}

std::string resave(std::string_view array) {
  return "; save it again with np.save(file, " + std::string(array) + ")";
}

// What the dict says, before it is judged.
struct Dict {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

// Recursive descent over the dict literal. As numpy: any order of the keys, either quote, any
// white space, an optional trailing comma; and no key but the three.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::filesystem::path& name)
      : text_(text), name_(name) {}

  Dict parse() {
    Dict dict;
    expect('{');
    while (!accept('}')) {
      parse_entry(dict);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) {
      malformed("something follows the dict");
    }
    return dict;
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    reject(name_,
           "malformed .npy header at its byte " + std::to_string(at_) + ": " + what + resave("a"));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != text_.npos) {
      ++at_;
    }
  }

  [[nodiscard]] bool next_is(char wanted) {
    skip_space();
    return at_ < text_.size() && text_[at_] == wanted;
  }

  [[nodiscard]] bool accept(char wanted) {
    const bool found = next_is(wanted);
    at_ += found ? 1 : 0;
    return found;
  }

  void expect(char wanted) {
    if (!accept(wanted)) {
      malformed(std::string("expected '") + wanted + "'");
    }
  }

  [[nodiscard]] bool accept_word(std::string_view word) {
    skip_space();
    const bool found = text_.substr(at_, word.size()) == word;
    at_ += found ? word.size() : 0;
    return found;
  }

  void parse_entry(Dict& dict) {
    const std::string key = parse_string();
    expect(':');
    if (key == "descr" && !dict.descr) {
      if (next_is('[') || next_is('(')) {
        reject(name_, "it holds a structured array; diffbench needs plain float32 or float64" +
                          resave("a['field']"));
      }
      dict.descr = parse_string();
    } else if (key == "fortran_order" && !dict.fortran_order) {
      dict.fortran_order = parse_bool();
    } else if (key == "shape" && !dict.shape) {
      dict.shape = parse_shape();
    } else {
      malformed("unknown or repeated key '" + printable(key) + "'");
    }
  }

  std::string parse_string() {
    const char quote = next_is('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = text_.find_first_of(std::string{quote, '\\', '\n'}, at_);
    if (end == text_.npos || text_[end] != quote) {
      malformed("a string does not end");
    }
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  bool parse_bool() {
    if (accept_word("True")) {
      return true;
    }
    if (!accept_word("False")) {
      malformed("fortran_order is neither True nor False");
    }
    return false;
  }

  std::vector<std::int64_t> parse_shape() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(parse_extent());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::int64_t parse_extent() {
    skip_space();
    std::int64_t extent = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
    if (error == std::errc::result_out_of_range) {
      reject(name_, "its shape has an extent beyond 64 bits; the file is damaged");
    }
    if (error != std::errc()) {
      malformed("an extent of the shape is not a whole number");
    }
    at_ += static_cast<std::size_t>(end - begin);
    static_cast<void>(accept('L')); // Python 2 wrote long integers so
    return extent;
  }

  std::string_view text_;
  const std::filesystem::path& name_;
  std::size_t at_ = 0;
};

Dtype checked_dtype(const std::string& descr, const std::filesystem::path& name) {
  if (descr == "<f4") {
    return Dtype::float32;
  }
  if (descr == "<f8") {
    return Dtype::float64;
  }
  reject(name, "its dtype is '" + printable(descr) +
                   "'; diffbench needs little-endian float32 ('<f4') or float64 ('<f8')" +
                   resave("a.astype('<f4')"));
}

NpyHeader checked(const Dict& dict, const std::filesystem::path& name) {
  if (!dict.descr || !dict.fortran_order || !dict.shape) {
    reject(name, "its .npy header lacks descr, fortran_order or shape" + resave("a"));
  }
  NpyHeader header;
  header.dtype = checked_dtype(*dict.descr, name);
  if (dict.shape->size() != 2) {
    reject(name, "it holds a " + std::to_string(dict.shape->size()) + "-D array; a field is 2D" +
                     resave("a.reshape(ny, nx)"));
  }
  header.columns_first = *dict.fortran_order;
  header.ny = (*dict.shape)[0];
  header.nx = (*dict.shape)[1];
  for (const std::int64_t extent : {header.ny, header.nx}) {
    if (extent < 1 || extent > max_extent) {
      reject(name, "its shape (" + std::to_string(header.ny) + ", " + std::to_string(header.nx) +
                       ") is not within 1 to " + std::to_string(max_extent) +
                       " in each direction; save a field of the grid's size");
    }
  }
  return header;
}

// Exactly `size` bytes of the part of the file that `what` names.
std::string read_bytes(std::istream& stream, std::size_t size, const std::string& what,
                       const std::filesystem::path& name) {
  std::string bytes(size, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!stream) {
    reject(name, "it ends inside " + what + "; copy or save it again");
  }
  return bytes;
}

std::size_t read_header_size(std::istream& stream, const std::filesystem::path& name) {
  const std::string version = read_bytes(stream, 2, "the .npy version", name);
  const int major = static_cast<unsigned char>(version[0]);
  const int minor = static_cast<unsigned char>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    reject(name, "its .npy version is " + std::to_string(major) + "." + std::to_string(minor) +
                     "; known are 1.0, 2.0 and 3.0" + resave("a"));
  }
  const std::string bytes = read_bytes(stream, major == 1 ? 2 : 4, "the .npy header", name);
  std::size_t size = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    size = size << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (size > max_header) {
    reject(name, "its .npy header claims " + std::to_string(size) +
                     " bytes, more than 1 MiB; the file is damaged" + resave("a"));
  }
  return size;
}

std::string python_tuple(std::int64_t ny, std::int64_t nx) {
  return "(" + std::to_string(ny) + ", " + std::to_string(nx) + ")";
}

// Opens the file and checks all but the values of the cells, which come next in the stream.
template <typename T>
NpyHeader open_npy(const std::filesystem::path& path, std::ifstream& stream) {
  std::error_code error;
  // A pipe is refused, too: its size cannot be compared with the header.
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    reject(path, "there is no such file; check the path");
  }
  if (!std::filesystem::is_regular_file(status)) {
    reject(path, "it is not a regular file; name a .npy file");
  }
  stream.open(path, std::ios::binary);
  if (!stream) {
    reject(path, "it cannot be opened; check its permissions");
  }
  const NpyHeader header = read_npy_header(stream, path);
  if (header.dtype != dtype_of<T>) {
    reject(path, "it holds " + std::string(to_string(header.dtype)) + " and the run is in " +
                     std::string(to_string(dtype_of<T>)) + "; run with --dtype " +
                     std::string(to_string(header.dtype)) + " or convert the array");
  }
  // Both extents are at most 10^9, so the product fits in 64 bits.
  const std::int64_t bytes = header.nx * header.ny * static_cast<std::int64_t>(sizeof(T));
  const auto held = static_cast<std::int64_t>(std::filesystem::file_size(path, error)) -
                    static_cast<std::int64_t>(stream.tellg());
  if (error || held != bytes) {
    reject(path, "shape " + python_tuple(header.ny, header.nx) + " needs " + std::to_string(bytes) +
                     " bytes of data and the file holds " + std::to_string(held) +
                     "; copy or save it again");
  }
  return header;
}

/// Those of the rows from `first` on; the stream is at the data.
template <typename T>
void read_cells(std::istream& stream, const NpyHeader& header, std::int64_t first,
                std::span<T> cells, const std::filesystem::path& path) {
  const auto read = [&](std::int64_t skipped, std::span<T> part) {
    stream.seekg(skipped * static_cast<std::int64_t>(sizeof(T)), std::ios::cur);
    stream.read(reinterpret_cast<char*>(part.data()),
                static_cast<std::streamsize>(part.size_bytes()));
  };
  if (!header.columns_first) {
    read(first * header.nx, cells);
  } else {
    const auto nx = static_cast<std::size_t>(header.nx);
    std::vector<T> column(cells.size() / nx);
    const std::int64_t skipped = header.ny - static_cast<std::int64_t>(column.size());
    for (std::size_t x = 0; x < nx && stream; ++x) {
      read(x == 0 ? first : skipped, column);
      for (std::size_t y = 0; y < column.size(); ++y) {
        cells[y * nx + x] = column[y];
      }
    }
  }
  if (!stream) {
    reject(path, "reading its data failed; copy or save it again");
  }
}

} // namespace

NpyHeader read_npy_header(std::istream& stream, const std::filesystem::path& name) {
  if (stream.peek() == std::istream::traits_type::eof()) {
    reject(name, "it is empty" + resave("a"));
  }
  std::string start(magic.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (!stream || start != magic) {
    reject(name, "it is not a .npy file (wrong magic bytes)" + resave("a"));
  }
  const std::size_t size = read_header_size(stream, name);
  const std::string text = read_bytes(stream, size, "the .npy header", name);
  return checked(HeaderParser(text, name).parse(), name);
}

std::string npy_header(const NpyHeader& header, std::string_view comment) {
  std::string dict = std::string("{'descr': '") + (header.dtype == Dtype::float32 ? "<f4" : "<f8") +
                     "', 'fortran_order': False, 'shape': " + python_tuple(header.ny, header.nx) +
                     ", }" + std::string(comment);
  const std::size_t prefix = magic.size() + 2 + 2;
  const std::size_t unpadded = prefix + dict.size() + 1;
  const std::size_t padded =
      (unpadded + header_alignment - 1) / header_alignment * header_alignment;
  dict.append(padded - unpadded, ' ');
  dict += '\n';
  const char version[] = {1, 0};
  const char size[] = {static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return std::string(magic) + std::string(version, 2) + std::string(size, 2) + dict;
}

template <typename T>
Field<T> read_npy(const std::filesystem::path& path) {
  std::ifstream stream;
  const NpyHeader header = open_npy<T>(path, stream);
  Field<T> field(header.nx, header.ny);
  read_cells(stream, header, 0, field.cells(), path);
  return field;
}

template <typename T>
void read_npy_rows(const std::filesystem::path& path, std::int64_t nx, std::int64_t ny,
                   std::int64_t first, std::span<T> cells) {
  std::ifstream stream;
  const NpyHeader header = open_npy<T>(path, stream);
  if (header.nx != nx || header.ny != ny) {
    reject(path, "its shape is " + python_tuple(header.ny, header.nx) + " and the field's is " +
                     python_tuple(ny, nx) + "; save an array of the field's shape");
  }
  read_cells(stream, header, first, cells, path);
}

template <typename T>
void read_npy(const std::filesystem::path& path, Field<T>& field) {
  read_npy_rows(path, field.nx(), field.ny(), 0, field.cells());
}

template <typename T>
void write_npy(const std::filesystem::path& path, const Field<T>& field) {
  write_atomically(path, [&](std::ostream& stream) {
    stream << npy_header({.nx = field.nx(), .ny = field.ny(), .dtype = dtype_of<T>});
    stream.write(reinterpret_cast<const char*>(field.cells().data()),
                 static_cast<std::streamsize>(field.cells().size_bytes()));
  });
}

template Field<float> read_npy(const std::filesystem::path&);
template Field<double> read_npy(const std::filesystem::path&);
template void read_npy(const std::filesystem::path&, Field<float>&);
template void read_npy(const std::filesystem::path&, Field<double>&);
template void read_npy_rows(const std::filesystem::path&, std::int64_t, std::int64_t, std::int64_t,
                            std::span<float>);
template void read_npy_rows(const std::filesystem::path&, std::int64_t, std::int64_t, std::int64_t,
                            std::span<double>);
template void write_npy(const std::filesystem::path&, const Field<float>&);
template void write_npy(const std::filesystem::path&, const Field<double>&);

} // namespace diffbench
