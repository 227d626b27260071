// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_seal.hpp"

#include "diffbench/cluster/agreement.hpp"
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/cluster/field_digest.hpp"
#include "diffbench/errors.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace diffbench::cluster {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = "\ndiffbench seal, bytes before it and their digest: ";
constexpr std::size_t number_digits = 19;
static_assert(seal_bytes == mark.size() + number_digits + 1 + 32 + 1);

std::string seal_text(std::int64_t bytes, const FieldDigest& digest) {
  const std::string number = std::to_string(bytes);
  return std::string(mark) + std::string(number_digits - number.size(), '0') + number + " " +
         to_string(digest) + "\n";
}

/// Collective: as the lowest rank sees the file, once all have come here. One that saw another
/// length, as over a network for a while, would make another number of exchanges.
std::int64_t length_together(Transport* transport, const ReadFile& file) {
  std::int64_t mine = 0;
  collectively(transport, [&] { mine = file.bytes(); });
  if (transport == nullptr || transport->size() == 1) {
    return mine;
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(transport->size()));
  transport->all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all.front();
}

/// Collective: of the first `bytes`, each rank's share.
FieldDigest digest_together(Transport* transport, const ReadFile& file, std::int64_t bytes) {
  const std::int64_t ranks = transport != nullptr ? transport->size() : 1;
  const std::int64_t rank = transport != nullptr ? transport->rank() : 0;
  const std::int64_t words = (bytes + 7) / 8;
  const std::int64_t begin = 8 * (words * rank / ranks);
  const std::int64_t end = std::min(bytes, 8 * (words * (rank + 1) / ranks));
  FieldDigest mine;
  collectively_in_pieces(transport, end - begin, file_piece,
                         [&](std::int64_t first, std::int64_t count) {
                           mine += digest_of_bytes(begin + first, file.read(begin + first, count));
                         });
  if (ranks == 1) {
    return mine;
  }
  std::vector<FieldDigest> all(static_cast<std::size_t>(ranks));
  transport->all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  FieldDigest sum;
  for (const FieldDigest& each : all) {
    sum += each;
  }
  return sum;
}

/// Whether all ranks have read the same.
bool all_have(Transport* transport, const std::string& text) {
  if (transport == nullptr || transport->size() == 1) {
    return true;
  }
  std::string mine = text;
  mine.resize(seal_bytes);
  std::string all(seal_bytes * static_cast<std::size_t>(transport->size()), '\0');
  transport->all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  for (std::size_t at = 0; at < all.size(); at += seal_bytes) {
    if (all.compare(at, seal_bytes, all, 0, seal_bytes) != 0) {
      return false;
    }
  }
  return true;
}

/// Of a file whose end is no seal.
std::string without_seal(const ReadFile& file) {
  const std::string head = file.read(0, 64 << 10);
  if (head.find("diffbench checkpoint ") == head.npos) {
    return "it is not a checkpoint";
  }
  if (head.find("diffbench checkpoint 1") != head.npos) {
    return "an older version of this program wrote it, without a checksum: continue with that "
           "version, or start again";
  }
  return "it does not end with a checkpoint's seal: it is cut short, or another program wrote it";
}

std::string tail_of(const ReadFile& file) {
  const std::int64_t end = file.bytes() - seal_bytes;
  return end < 0 ? "" : file.read(end, seal_bytes);
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why, bool of_machine = false) {
  std::error_code ignored;
  const fs::path previous = previous_checkpoint(path);
  const std::string text =
      "cannot read checkpoint '" + path.string() + "': " + why +
      (fs::exists(previous, ignored) ? "; the one before it is '" + previous.string() + "'" : "");
  if (of_machine) {
    throw Error(text);
  }
  throw InvalidInput(text);
}

/// Where another run replaces the file meanwhile, ranks may have opened different ones.
std::optional<ReadFile> open_alike(Transport* transport, const fs::path& path) {
  constexpr int attempts = 10;
  for (int i = 0; i < attempts; ++i) {
    ReadFile file;
    std::string tail;
    collectively(transport, [&] {
      try {
        file = ReadFile(path);
        tail = tail_of(file);
      } catch (const InvalidInput& error) {
        refuse(path, error.what());
      } catch (const Error& error) {
        refuse(path, error.what(), /*of_machine=*/true);
      }
    });
    if (all_have(transport, tail)) {
      return file;
    }
  }
  return std::nullopt;
}

} // namespace

ReadFile::ReadFile(const fs::path& path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0 && errno == ENOENT) {
    throw InvalidInput("there is no such file; check the path");
  }
  if (file_ < 0) {
    const std::string why = std::generic_category().message(errno);
    errno == EACCES ? throw InvalidInput(why) : throw Error(why);
  }
  struct stat status {};
  if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(std::exchange(file_, -1));
    throw InvalidInput("it is not a regular file; name a checkpoint");
  }
}

ReadFile::~ReadFile() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

std::int64_t ReadFile::bytes() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0) {
    throw Error(std::generic_category().message(errno));
  }
  return status.st_size;
}

std::string ReadFile::read(std::int64_t offset, std::int64_t bytes) const {
  std::string all(static_cast<std::size_t>(bytes), '\0');
  all.resize(read_some(offset, std::as_writable_bytes(std::span(all))));
  return all;
}

void ReadFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
  if (read_some(offset, bytes) != bytes.size()) {
    throw Error("reading it failed: it has become shorter");
  }
}

std::size_t ReadFile::read_some(std::int64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(file_, bytes.data() + done, bytes.size() - done,
                                  offset + static_cast<std::int64_t>(done));
    if (count < 0 && errno != EINTR) {
      throw Error("reading it failed: " + std::generic_category().message(errno));
    }
    if (count == 0) {
      break;
    }
    done += count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  return done;
}

std::string seal_of(Transport* transport, const fs::path& path) {
  ReadFile file;
  collectively(transport, [&] { file = ReadFile(path); });
  const std::int64_t bytes = length_together(transport, file);
  return seal_text(bytes, digest_together(transport, file, bytes));
}

ReadFile open_sealed(Transport* transport, const fs::path& path) {
  std::optional<ReadFile> file = open_alike(transport, path);
  if (!file) {
    refuse(path, "it is another file on each rank, or is replaced all the time");
  }
  const std::string seal = tail_of(*file);
  if (!seal.starts_with(mark)) {
    collectively(transport, [&] { refuse(path, without_seal(*file)); });
  }
  const std::int64_t bytes = length_together(transport, *file) - seal_bytes;
  if (seal_text(bytes, digest_together(transport, *file, bytes)) != seal) {
    collectively(transport, [&] {
      refuse(path,
             "the file is damaged: its bytes are not those that were written (another digest)");
    });
  }
  return std::move(*file);
}

} // namespace diffbench::cluster
