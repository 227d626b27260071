// SPDX-License-Identifier: Apache-2.0
#include "digest.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace diffbench::bench {

namespace {

void check(int done) {
  if (done != 1) {
    throw Error("SHA-256 is not available in this machine's OpenSSL");
  }
}

} // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> state{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(EVP_DigestInit_ex(context_->state.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(context_->state.get(), bytes.data(), bytes.size()));
}

std::string Sha256::text() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_->state.get(), digest.data(), &size));
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += fmt::format("{:02x}", digest[i]);
  }
  return text;
}

} // namespace diffbench::bench
