// A session that tells an observer of each call. It stands before the real one only while somebody
// wants to hear of calls, so that an ordinary run has nothing of it.
#pragma once

#include "observer.hpp"

#include "diffbench/backend.hpp"

#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace diffbench::bench {

inline void add(PhaseTimes& sum, const PhaseTimes& part) {
  for (double PhaseTimes::*phase :
       {&PhaseTimes::context, &PhaseTimes::alloc, &PhaseTimes::pin, &PhaseTimes::h2d,
        &PhaseTimes::launch, &PhaseTimes::compute, &PhaseTimes::sync, &PhaseTimes::d2h,
        &PhaseTimes::h2d_busy, &PhaseTimes::compute_busy, &PhaseTimes::d2h_busy}) {
    sum.*phase += part.*phase;
  }
}

template <typename T>
class ObservedSession final : public Session<T> {
 public:
  /// `make()` makes the session that does the work.
  template <typename Make>
  ObservedSession(Observer& observer, Make make) : observer_(observer) {
    call("make", [&] { session_ = make(); });
  }
  ~ObservedSession() override {
    const Observed span(observer_, {.kind = Span::Kind::call, .name = "free"});
    session_.reset();
  }

  void upload(std::span<const T> cells) override {
    call("upload", [&] { session_->upload(cells); });
  }
  void advance(std::int64_t steps) override {
    call(
        "advance", [&] { session_->advance(steps); }, steps);
  }
  void wait() override {
    call("wait", [&] { session_->wait(); });
  }
  void download(std::span<T> cells) override {
    call("download", [&] { session_->download(cells); });
  }
  void start_download(std::span<T> cells) override {
    call("start_download", [&] { session_->start_download(cells); });
  }
  [[nodiscard]] std::span<T> host_buffer() override { return session_->host_buffer(); }
  /// The sum of what was taken after each call.
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override {
    return std::exchange(sum_, std::nullopt);
  }
  [[nodiscard]] Provenance provenance() const override { return session_->provenance(); }

 private:
  template <typename Call>
  void call(std::string_view name, Call call, std::int64_t steps = 0) {
    std::optional<PhaseTimes> account; // lives until the span has ended
    Observed span(observer_, {.kind = Span::Kind::call, .name = name, .steps = steps});
    call();
    account = session_->take_phases();
    if (account) {
      span.set_account(*account);
      sum_ = sum_.value_or(PhaseTimes{});
      add(*sum_, *account);
    }
  }

  Observer& observer_;
  std::unique_ptr<Session<T>> session_;
  std::optional<PhaseTimes> sum_;
};

/// The session that `make()` makes, behind an ObservedSession if `observer` wants that.
template <typename T, typename Make>
std::unique_ptr<Session<T>> observed(Observer& observer, Make make) {
  if (observer.wants_calls()) {
    return std::make_unique<ObservedSession<T>>(observer, make);
  }
  return make();
}

} // namespace diffbench::bench
