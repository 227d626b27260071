// SPDX-License-Identifier: Apache-2.0
#include "row_session.hpp"

#include "fake_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace diffbench::bench {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Pair;

/// Three rows of one cell, each of which counts the steps. A copy that was started arrives at the
/// next wait(), as the field was when it started.
class CountingSession final : public Session<float> {
 public:
  explicit CountingSession(std::vector<std::string>& log) : log_(log) {}

  void upload_rows(std::int64_t first, std::span<const float> cells) override {
    std::copy(cells.begin(), cells.end(), now_.begin() + first);
  }
  void advance(std::int64_t steps) override {
    for (float& cell : now_) {
      cell += static_cast<float>(steps);
    }
    log_.push_back("advance " + std::to_string(steps));
  }
  void wait() override {
    log_.emplace_back("wait");
    if (!target_.empty()) {
      std::copy(on_its_way_.begin(), on_its_way_.end(), target_.begin());
      target_ = {};
    }
  }
  void download_rows(std::int64_t first, std::span<float> cells) override {
    log_.emplace_back("download");
    std::copy_n(now_.begin() + first, cells.size(), cells.begin());
  }
  void start_download(std::span<float> cells) override {
    log_.emplace_back("start_download");
    EXPECT_TRUE(target_.empty()) << "the copy before had not arrived";
    target_ = cells;
    on_its_way_ = now_;
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  std::vector<std::string>& log_;
  std::array<float, 3> now_ = {};
  std::array<float, 3> on_its_way_ = {};
  std::span<float> target_;
};

class SnapshotSessionTest : public testing::Test {
 protected:
  float result_of(std::initializer_list<std::int64_t> stretches) {
    const std::vector<float> zero = {0, 0, 0};
    std::vector<float> result = {-1, -1, -1};
    session_.upload(zero);
    log_.clear();
    for (const std::int64_t steps : stretches) {
      session_.advance(steps);
    }
    session_.download(result);
    EXPECT_THAT(result, Each(result[0]));
    return result[0];
  }

  std::vector<std::string> log_;
  SnapshotSession<float> session_{std::make_unique<CountingSession>(log_),
                                  Problem{.nx = 1, .ny = 3}, 3};
};

TEST_F(SnapshotSessionTest, ComeEveryKStepsAndOneIsOnItsWayAtATime) {
  EXPECT_EQ(result_of({4, 4}), 8);
  EXPECT_THAT(log_, ElementsAre("advance 3", "wait", "start_download", "advance 1", "advance 2",
                                "wait", "start_download", "advance 2", "download"));
}

TEST_F(SnapshotSessionTest, TheLastOneIsTheResultWhereARunEndsWithIt) {
  EXPECT_EQ(result_of({6}), 6);
  EXPECT_THAT(log_, ElementsAre("advance 3", "wait", "start_download", "advance 3", "wait",
                                "start_download", "wait"));
}

TEST_F(SnapshotSessionTest, AnUploadBeginsAnew) {
  EXPECT_EQ(result_of({3}), 3);
  EXPECT_EQ(result_of({}), 0); // not the snapshot of the run before
  EXPECT_EQ(result_of({2}), 2);
  EXPECT_EQ(result_of({2}), 2); // and not two steps and one more
  EXPECT_THAT(log_, ElementsAre("advance 2", "download"));
}

TEST_F(SnapshotSessionTest, RowsOfTheResultAreThoseOfTheSnapshot) {
  session_.upload(std::vector<float>{0, 10, 20});
  session_.advance(3);
  log_.clear();
  std::vector<float> result(2);
  session_.download_rows(1, result);
  EXPECT_THAT(result, ElementsAre(13, 23));
  EXPECT_THAT(log_, ElementsAre("wait"));
}

TEST_F(SnapshotSessionTest, ReplacedRowsAreInTheResultAndLeaveTheCountAlone) {
  session_.upload(std::vector<float>{0, 10, 20});
  session_.advance(3);
  session_.upload_rows(1, std::vector<float>{50});
  std::vector<float> result(3);
  session_.download(result); // not the snapshot of before
  EXPECT_THAT(result, ElementsAre(3, 50, 23));
  session_.advance(2);
  session_.upload_rows(0, std::vector<float>{70});
  log_.clear();
  session_.advance(1);
  EXPECT_THAT(log_, ElementsAre("advance 1", "wait", "start_download"));
}

TEST_F(SnapshotSessionTest, TheRowSaysSo) {
  EXPECT_THAT(session_.provenance().details, Contains(Pair("snapshot_every", "3")));
}

TEST(SnapshotSessionOfAGpu, UsesItsOwnMemory) {
  FakeDevice device;
  device.has_host_buffer = true;
  auto fake = std::make_unique<FakeSession>(device);
  const std::span<float> buffer = fake->host_buffer();
  SnapshotSession<float> session(std::move(fake), {.nx = 1, .ny = 6}, 2);
  session.upload(std::vector<float>(6, 7));
  session.advance(2);
  EXPECT_THAT(buffer, Each(7));
}

} // namespace
} // namespace diffbench::bench
