// SPDX-License-Identifier: Apache-2.0
// Checkpoints whose bytes are not those that were written: refused before HDF5 sees them, by one
// rank and by several. DIFFBENCH_MUTATIONS is how many are tried; some unless it is set.
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/cluster/module.hpp"

#include "checkpoint_case.hpp"
#include "checkpoint_seal.hpp"
#include "scratch.hpp"
#include "thread_cluster.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <hdf5.h>

namespace diffbench::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::unique_ptr<CheckpointFiles> hdf5() { return load_module("hdf5").checkpoint_files(); }

class Hdf5DamageTest : public ScratchTest {
 public:
  Hdf5DamageTest() {
    const CheckpointFacts facts = sample_facts(Dtype::float64, 5, 7);
    save_checkpoint(*hdf5(), nullptr, path, facts, 0, sample_rows(facts.problem));
    whole = content_of(path);
  }

  std::string complaint(Ranks& ranks) {
    return message_of<InvalidInput>([&] { static_cast<void>(ranks.open_checkpoint(path)); });
  }

  std::filesystem::path path = directory() / "run.h5";
  std::string whole;
  ThreadCluster one{1};
  ThreadCluster three{3};
};

/// A checkpoint of a run, edited with HDF5.
class Hdf5EditTest : public Hdf5DamageTest {
 public:
  static constexpr std::string_view seal_begins = "\ndiffbench seal";
  CheckpointFacts facts = sample_facts(Dtype::float64, 5, 7);

  /// Without its seal.
  template <typename Edit>
  void edit(Edit&& change) {
    const auto session =
        one.leader().make_session<double>({.backend = "scalar", .problem = facts.problem});
    session->initialise({.kind = InitialField::Kind::random, .seed = 1, .path = {}});
    session->save_checkpoint(path, facts);
    const std::string sealed = content_of(path);
    put("run.h5", sealed.substr(0, sealed.find(seal_begins)));
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change(file);
    H5Fclose(file);
  }
  /// As somebody does it who knows how a seal is made, and no more.
  void seal_again() {
    std::ofstream(path, std::ios::app | std::ios::binary) << seal_of(nullptr, path);
  }
  /// What is said of it when it is opened or its cells are read; empty: nothing.
  std::string complaint_of(Ranks& ranks) {
    try {
      const CheckpointFacts read = ranks.open_checkpoint(path);
      const auto session =
          ranks.make_session<double>({.backend = "scalar", .problem = read.problem, .depth = 1});
      session->load_checkpoint(path);
      return "";
    } catch (const InvalidInput& error) {
      return error.what();
    }
  }
};

template <typename Value>
void overwrite(hid_t file, const char* name, hid_t type, const Value& value) {
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  ASSERT_GE(H5Awrite(attribute, type, &value), 0);
  H5Aclose(attribute);
}
void overwrite_text(hid_t file, const char* name, const char* text) {
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, std::strlen(text));
  H5Tset_cset(type, H5T_CSET_UTF8);
  ASSERT_GE(H5Awrite(attribute, type, text), 0);
  H5Tclose(type);
  H5Aclose(attribute);
}

/// Another text of another kind each time.
std::string damaged(std::string text, std::mt19937& chance) {
  const auto below = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(chance);
  };
  // Half of them in HDF5's own structures.
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

TEST_F(Hdf5DamageTest, AWholeOneIsTaken) {
  EXPECT_EQ(one.leader().open_checkpoint(path), sample_facts(Dtype::float64, 5, 7));
}

TEST_F(Hdf5DamageTest, NoDamagedOneIsTaken) {
  const char* const asked = std::getenv("DIFFBENCH_MUTATIONS");
  const int mutations = asked != nullptr ? std::atoi(asked) : 300;
  std::mt19937 chance(20261124);
  int tried = 0;
  while (tried < mutations) {
    const std::string text = damaged(whole, chance);
    if (text == whole) {
      continue;
    }
    put("run.h5", text);
    ThreadCluster& cluster = tried % 2 == 0 ? one : three;
    ASSERT_THAT(complaint(cluster.leader()), StartsWith("cannot read checkpoint '")) << tried;
    ++tried;
  }
}

TEST_F(Hdf5DamageTest, EachBitCounts) {
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ (1 << (at % 8)));
    put("run.h5", text);
    ASSERT_THAT(complaint(one.leader()), HasSubstr("run.h5': ")) << at;
  }
}

TEST_F(Hdf5DamageTest, SaysWhatIsWrong) {
  Ranks& ranks = three.leader();
  put("run.h5", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(complaint(ranks), HasSubstr("it is cut short"));
  put("run.h5", "not HDF5");
  EXPECT_THAT(complaint(ranks), HasSubstr("not an HDF5 file"));
  std::string text = whole;
  text[whole.size() / 2] ^= 1;
  put("run.h5", text);
  EXPECT_THAT(complaint(ranks), HasSubstr("the file is damaged"));
  put("run.h5.previous", whole);
  EXPECT_THAT(complaint(ranks), HasSubstr("the one before it is '" + path.string() + ".previous'"));
  // The format before the seal, and the one before the digest of the facts.
  const auto of_format = [&](char number) {
    text = whole.substr(0, whole.find("\ndiffbench seal"));
    text[text.find("diffbench checkpoint 3") + 21] = number;
    put("run.h5", text);
  };
  of_format('2');
  std::ofstream(path, std::ios::app | std::ios::binary) << seal_of(nullptr, path);
  EXPECT_THAT(complaint(ranks), AllOf(HasSubstr("its format is 'diffbench checkpoint 2'"),
                                      HasSubstr("with the version that wrote it")));
  of_format('1');
  EXPECT_THAT(complaint(ranks),
              AllOf(HasSubstr("an older version"), HasSubstr("with that version")));
}

TEST_F(Hdf5EditTest, OneThatIsEditedIsNotTaken) {
  using Change = std::function<void(hid_t)>;
  edit([](hid_t) {});
  seal_again();
  ASSERT_EQ(complaint_of(one.leader()), "");
  ASSERT_EQ(complaint_of(three.leader()), "");

  const Problem& problem = facts.problem;
  std::vector<Change> changes;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t flip = std::uint64_t{1} << bit;
    changes.emplace_back([&, flip](hid_t file) {
      overwrite(file, "step", H5T_NATIVE_INT64, facts.step ^ static_cast<std::int64_t>(flip));
    });
    const std::pair<const char*, double> numbers[] = {{"dt", problem.dt},
                                                      {"spacing", problem.spacing},
                                                      {"diffusivity", problem.diffusivity},
                                                      {"boundary_value", problem.boundary_value}};
    for (const auto& [name, value] : numbers) {
      const auto flipped = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ flip);
      changes.emplace_back([name = name, flipped](hid_t file) {
        overwrite(file, name, H5T_NATIVE_DOUBLE, flipped);
      });
    }
  }
  changes.emplace_back([](hid_t file) { overwrite_text(file, "boundary", "periodic"); });
  changes.emplace_back([](hid_t file) { overwrite_text(file, "initial", "random, seed 5"); });
  changes.emplace_back([](hid_t file) { overwrite_text(file, "version", "0.0.9"); });
  changes.emplace_back(
      [](hid_t file) { overwrite_text(file, "digest", "0123456789abcdef0123456789abcdef"); });
  changes.emplace_back([](hid_t file) {
    const hid_t dataset = H5Dopen2(file, "u", H5P_DEFAULT);
    const std::vector<double> cells(35, 0.5);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells.data());
    H5Dclose(dataset);
  });
  for (std::size_t i = 0; i < changes.size(); ++i) {
    edit(changes[i]);
    EXPECT_THAT(complaint_of(one.leader()), HasSubstr("it does not end with a checkpoint's seal"));
    seal_again();
    Ranks& ranks = i % 8 == 0 ? three.leader() : one.leader();
    EXPECT_THAT(complaint_of(ranks), StartsWith("cannot read checkpoint '")) << i;
  }
}

// Another run replaces it after it was opened.
TEST_F(Hdf5DamageTest, WhatWasOpenedIsWhatIsRead) {
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
