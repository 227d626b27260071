// SPDX-License-Identifier: Apache-2.0
// IDX files: a magic number (two zero bytes, the type, the number of dimensions), each dimension as
// 32 bits, most significant byte first, then the bytes.
#include "diffbench/errors.hpp"
#include "diffbench/mlp/data.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace diffbench::mlp {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t magic_images = 0x00000803; // unsigned bytes, three dimensions
constexpr std::uint32_t magic_labels = 0x00000801; // unsigned bytes, one dimension
/// Larger than any such file, and small enough to allocate.
constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

/// A file, plain or compressed: zlib reads both alike.
class IdxFile {
 public:
  explicit IdxFile(const fs::path& path) : path_(path) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) { // opening a pipe might wait for ever
      file_.reset(gzopen(path.c_str(), "rb"));
    }
    if (!file_) {
      fail("cannot be opened");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidInput(path_.string() + ": " + what);
  }

  std::uint32_t read_number() {
    std::array<unsigned char, 4> bytes{};
    read(bytes);
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
  }

  /// The dimensions of a file whose magic number must be `magic`.
  std::vector<std::uint32_t> read_header(std::uint32_t magic) {
    if (const std::uint32_t found = read_number(); found != magic) {
      constexpr const char* hex = "0123456789abcdef";
      std::string digits;
      for (int shift = 28; shift >= 0; shift -= 4) {
        digits += hex[found >> shift & 15];
      }
      fail("begins with " + digits + ", not with the magic number of IDX " +
           (magic == magic_images ? "images, 00000803" : "labels, 00000801"));
    }
    std::vector<std::uint32_t> dimensions(magic & 255);
    std::ranges::generate(dimensions, [&] { return read_number(); });
    return dimensions;
  }

  /// All that is left, which must be `count` bytes.
  std::vector<unsigned char> read_rest(std::uint64_t count) {
    if (count > most_bytes) {
      fail("claims to hold " + std::to_string(count) + " bytes");
    }
    // Piece by piece, so that a header that lies costs no more memory than the file has bytes.
    constexpr std::uint64_t piece = 1 << 20;
    std::vector<unsigned char> bytes;
    while (bytes.size() < count) {
      const std::size_t had = bytes.size();
      const std::size_t wanted = had + std::min<std::uint64_t>(piece, count - had);
      // The last piece asks for a byte too many: zlib notices that the end of a compressed file is
      // missing only where it has room left.
      const std::size_t room = wanted == count ? wanted + 1 : wanted;
      bytes.resize(room);
      const std::size_t now = had + read_some(std::span(bytes).subspan(had));
      if (now < wanted) {
        fail("ends before all that its header promises");
      }
      if (now > count) {
        fail("is longer than its header says");
      }
      bytes.resize(now);
    }
    if (gzgetc(file_.get()) != -1) { // where `count` is 0
      fail("is longer than its header says");
    }
    check_end();
    return bytes;
  }

 private:
  /// The checksum and the length that end a compressed file have been read, and are right.
  void check_end() const {
    int code = Z_OK;
    if (const char* const what = gzerror(file_.get(), &code); code != Z_OK) {
      fail(std::string("is damaged: ") + what);
    }
  }

  std::size_t read_some(std::span<unsigned char> bytes) {
    const int got = gzread(file_.get(), bytes.data(), static_cast<unsigned>(bytes.size()));
    if (got < 0) {
      check_end();
    }
    return static_cast<std::size_t>(std::max(0, got));
  }

  void read(std::span<unsigned char> bytes) {
    if (read_some(bytes) != bytes.size()) {
      fail("ends before all that its header promises");
    }
  }

  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  fs::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

/// `stem`, plain or compressed, also as "train-images.idx3-ubyte", as it is often passed on.
fs::path find_file(const fs::path& directory, const std::string& stem, const std::string& name) {
  std::string dotted = stem;
  dotted[stem.rfind("-idx")] = '.';
  for (const std::string& file_stem : {stem, dotted}) {
    for (const char* suffix : {"", ".gz"}) {
      if (const fs::path file = directory / (file_stem + suffix); fs::is_regular_file(file)) {
        return file;
      }
    }
  }
  throw InvalidInput(
      (directory / stem).string() + ": no such file, and none with .gz; " +
      (name == "fashion" ? "apt-get install dataset-fashion-mnist, or name" : "name") +
      " the folder of the four files by --data-dir");
}

} // namespace

DataSet read_idx(const fs::path& images, const fs::path& labels) {
  IdxFile image_file(images);
  const std::vector<std::uint32_t> shape = image_file.read_header(magic_images);
  const std::uint64_t pixels = std::uint64_t{shape[1]} * shape[2];
  if (shape[0] == 0 || pixels == 0 || pixels > 1 << 20) {
    image_file.fail("has " + std::to_string(shape[0]) + " images of " + std::to_string(shape[1]) +
                    "x" + std::to_string(shape[2]) + " pixels");
  }
  IdxFile label_file(labels);
  const std::vector<std::uint32_t> count = label_file.read_header(magic_labels);
  if (count[0] != shape[0]) {
    label_file.fail("has " + std::to_string(count[0]) + " labels for " + std::to_string(shape[0]) +
                    " images");
  }
  DataSet set{.name = images.stem().string(),
              .features = static_cast<std::int64_t>(pixels),
              .classes = 0,
              .values = {},
              .labels = {}};
  const std::vector<unsigned char> bytes = image_file.read_rest(shape[0] * pixels);
  set.values.reserve(bytes.size());
  for (const unsigned char byte : bytes) {
    set.values.push_back(static_cast<float>(byte) / 255);
  }
  for (const unsigned char label : label_file.read_rest(count[0])) {
    set.labels.push_back(label);
    set.classes = std::max<std::int64_t>(set.classes, label + 1);
  }
  return set;
}

Split read_idx_directory(const fs::path& directory, const std::string& name) {
  auto read = [&](const std::string& part) {
    DataSet set = read_idx(find_file(directory, part + "-images-idx3-ubyte", name),
                           find_file(directory, part + "-labels-idx1-ubyte", name));
    set.name = name;
    return set;
  };
  Split split{.train = read("train"), .test = read("t10k")};
  if (split.train.features != split.test.features) {
    throw InvalidInput(directory.string() +
                       ": images for training and for the test differ in size");
  }
  split.train.classes = split.test.classes = std::max(split.train.classes, split.test.classes);
  return split;
}

} // namespace diffbench::mlp
