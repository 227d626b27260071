#include "digest.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace diffbench::bench {

std::string sha256(std::span<const std::byte> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Error("SHA-256 is not available in this machine's OpenSSL");
  }
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += fmt::format("{:02x}", digest[i]);
  }
  return text;
}

} // namespace diffbench::bench
