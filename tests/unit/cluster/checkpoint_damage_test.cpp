// SPDX-License-Identifier: Apache-2.0
// Checkpoints whose bytes are not those that were written: refused, by one rank
// and by several. DIFFBENCH_MUTATIONS is how many are tried; some unless it is set.
#include "diffbench/cluster/checkpoint_rotation.hpp"

#include "checkpoint_case.hpp"
#include "checkpoint_seal.hpp"
#include "scratch.hpp"
#include "thread_cluster.hpp"

#include <cstdlib>
#include <fstream>
#include <random>

#include <gmock/gmock.h>

namespace diffbench::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class CheckpointDamageTest : public ScratchTest {
 public:
  CheckpointDamageTest() {
    const CheckpointFacts facts = sample_facts(Dtype::float64, 5, 7);
    save_checkpoint(nullptr, path, facts, 0, sample_rows(facts.problem));
    whole = content_of(path);
  }

  std::string complaint(Ranks& ranks) {
    return message_of<InvalidInput>([&] { static_cast<void>(ranks.open_checkpoint(path)); });
  }

  std::filesystem::path path = directory() / "run.state";
  std::string whole;
  ThreadCluster one{1};
  ThreadCluster three{3};
};

/// Another text of another kind each time.
std::string damaged(std::string text, std::mt19937& chance) {
  const auto below = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(chance);
  };
  // Half of them in its first half.
  const std::size_t at = below(below(2) == 0 ? text.size() : text.size() / 2);
  const std::size_t length = std::min(text.size() - at, 1 + below(64));
  switch (below(7)) {
    case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
    case 1: text[at] = static_cast<char>(below(256)); break;
    case 2: text.replace(at, length, length, '\0'); break;
    case 3: text.replace(at, length, length, '\xff'); break;
    case 4: text.resize(at); break;
    case 5: text.erase(at, length); break;
    default: text.insert(at, text.substr(below(text.size()), length)); break;
  }
  return text;
}

TEST_F(CheckpointDamageTest, AWholeOneIsTaken) {
  EXPECT_EQ(one.leader().open_checkpoint(path), sample_facts(Dtype::float64, 5, 7));
}

TEST_F(CheckpointDamageTest, NoDamagedOneIsTaken) {
  const char* const asked = std::getenv("DIFFBENCH_MUTATIONS");
  const int mutations = asked != nullptr ? std::atoi(asked) : 300;
  std::mt19937 chance(20261124);
  int tried = 0;
  while (tried < mutations) {
    const std::string text = damaged(whole, chance);
    if (text == whole) {
      continue;
    }
    put("run.state", text);
    ThreadCluster& cluster = tried % 2 == 0 ? one : three;
    ASSERT_THAT(complaint(cluster.leader()), StartsWith("cannot read checkpoint '")) << tried;
    ++tried;
  }
}

TEST_F(CheckpointDamageTest, EachBitCounts) {
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ (1 << (at % 8)));
    put("run.state", text);
    ASSERT_THAT(complaint(one.leader()), HasSubstr("run.state': ")) << at;
  }
}

TEST_F(CheckpointDamageTest, SaysWhatIsWrong) {
  Ranks& ranks = three.leader();
  put("run.state", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(complaint(ranks), HasSubstr("it is cut short"));
  put("run.state", "no checkpoint");
  EXPECT_THAT(complaint(ranks), HasSubstr("it is not a checkpoint"));
  std::string text = whole;
  text[whole.size() / 2] ^= 1;
  put("run.state", text);
  EXPECT_THAT(complaint(ranks), HasSubstr("the file is damaged"));
  put("run.state.previous", whole);
  EXPECT_THAT(complaint(ranks), HasSubstr("the one before it is '" + path.string() + ".previous'"));
  // As versions before wrote it, in HDF5: without a seal, and with one.
  put("run.state", "\x89HDF\r\n\x1a\n ... diffbench checkpoint 1 ...");
  EXPECT_THAT(complaint(ranks),
              AllOf(HasSubstr("an older version"), HasSubstr("with that version")));
  put("run.state", "\x89HDF\r\n\x1a\n ... diffbench checkpoint 3 ...");
  std::ofstream(path, std::ios::app | std::ios::binary) << seal_of(nullptr, path);
  EXPECT_THAT(complaint(ranks), HasSubstr("another version of this program wrote it"));
}

// Another run replaces it after it was opened.
TEST_F(CheckpointDamageTest, WhatWasOpenedIsWhatIsRead) {
  const auto session = [&](Ranks& ranks) {
    return ranks.make_session<double>(
        {.backend = "scalar", .problem = sample_facts(Dtype::float64, 5, 7).problem});
  };
  const auto writer = session(one.leader());
  writer->initialise({.kind = InitialField::Kind::random, .seed = 1, .path = {}});
  writer->save_checkpoint(path, sample_facts(Dtype::float64, 5, 7));
  const FieldDigest first = writer->digest();
  static_cast<void>(one.leader().open_checkpoint(path));
  writer->initialise({.kind = InitialField::Kind::random, .seed = 2, .path = {}});
  for (int i = 0; i < 2; ++i) {
    writer->save_checkpoint(path, sample_facts(Dtype::float64, 5, 7));
  }
  const auto reader = session(one.leader());
  reader->load_checkpoint(path);
  EXPECT_EQ(reader->digest(), first);
}

} // namespace
} // namespace diffbench::cluster
