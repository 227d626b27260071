// SPDX-License-Identifier: Apache-2.0
#include "served_session.hpp"

#include "diffbench_try.h"

#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include <dlfcn.h>

namespace diffbench::tried {

namespace {

template <typename Function>
Function* find(void* library, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* symbol = dlsym(library, name)) {
      return reinterpret_cast<Function*>(symbol);
    }
  }
  return nullptr;
}

template <typename T>
constexpr bool is_float = std::is_same_v<T, float>;

template <typename T>
using Step = void(const T* u, T* out, int nx, int ny, T factor);
template <typename T>
using Solve = void(const T* in, T* out, int nx, int ny, int steps, T factor);

/// C++'s names for them (Itanium C++ ABI), with and without const, and C's.
template <typename T>
Step<T>* find_step(void* library) {
  return is_float<T> ? find<Step<T>>(library, {"_Z4stepPKfPfiif", "_Z4stepPfS_iif", "step"})
                     : find<Step<T>>(library, {"_Z4stepPKdPdiid", "_Z4stepPdS_iid", "step"});
}
template <typename T>
Solve<T>* find_solve(void* library) {
  return is_float<T> ? find<Solve<T>>(library, {"_Z5solvePKfPfiiif", "_Z5solvePfS_iiif", "solve"})
                     : find<Solve<T>>(library, {"_Z5solvePKdPdiiid", "_Z5solvePdS_iiid", "solve"});
}

template <typename T>
class StepSession final : public ServedSession {
 public:
  StepSession(Step<T>* step, std::byte* shared, const Opening& opening)
      : step_(step), opening_(opening), shared_(shared) {}

  void run(std::int64_t steps) override {
    const T* from = field(opening_.in);
    for (std::int64_t done = 0; done < steps; ++done) {
      T* to = field(done + 1 == steps ? opening_.out
                    : done % 2 == 0   ? opening_.even
                                      : opening_.odd);
      step_(from, to, opening_.nx, opening_.ny, static_cast<T>(opening_.factor));
      from = to;
    }
  }

 private:
  [[nodiscard]] T* field(std::size_t offset) const {
    return reinterpret_cast<T*>(shared_ + offset);
  }

  Step<T>* step_;
  Opening opening_;
  std::byte* shared_;
};

template <typename T>
class SolveSession final : public ServedSession {
 public:
  SolveSession(Solve<T>* solve, std::byte* shared, const Opening& opening)
      : solve_(solve), opening_(opening), shared_(shared) {}

  void run(std::int64_t steps) override {
    if (steps > std::numeric_limits<int>::max()) {
      throw std::runtime_error("solve() takes no more steps than an int holds");
    }
    solve_(reinterpret_cast<const T*>(shared_ + opening_.in),
           reinterpret_cast<T*>(shared_ + opening_.out), opening_.nx, opening_.ny,
           static_cast<int>(steps), static_cast<T>(opening_.factor));
  }

 private:
  Solve<T>* solve_;
  Opening opening_;
  std::byte* shared_;
};

template <typename T>
class OwnSession final : public ServedSession {
 public:
  OwnSession(void* library, std::byte* shared, const Opening& opening)
      : opening_(opening), shared_(shared) {
    const auto take = [library](auto*& function, const char* what) {
      const std::string name = std::string("diffbench_") + what + (is_float<T> ? "_f32" : "_f64");
      function = find<std::remove_reference_t<decltype(*function)>>(library, {name.c_str()});
      if (function == nullptr) {
        throw std::runtime_error("there is no function " + name);
      }
    };
    take(create_, "create");
    take(upload_, "upload");
    take(advance_, "advance");
    take(wait_, "wait");
    take(download_, "download");
    take(destroy_, "destroy");
    error_ = find<const char*()>(library, {"diffbench_error"});
    const diffbench_problem problem{.nx = opening.nx,
                                    .ny = opening.ny,
                                    .boundary = opening.boundary,
                                    .reserved = 0,
                                    .boundary_value = opening.boundary_value,
                                    .factor = opening.factor};
    session_ = create_(&problem);
    if (session_ == nullptr) {
      fail("diffbench_create");
    }
  }
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;
  ~OwnSession() override { destroy_(session_); }

  void run(std::int64_t steps) override {
    check(upload_(session_, reinterpret_cast<const T*>(shared_ + opening_.in)), "diffbench_upload");
    check(advance_(session_, steps), "diffbench_advance");
    check(wait_(session_), "diffbench_wait");
    check(download_(session_, reinterpret_cast<T*>(shared_ + opening_.out)), "diffbench_download");
  }

 private:
  void check(int failed, const char* what) const {
    if (failed != 0) {
      fail(what);
    }
  }
  [[noreturn]] void fail(const char* what) const {
    const char* why = error_ == nullptr ? nullptr : error_();
    throw std::runtime_error(std::string(what) + " failed" +
                             (why == nullptr ? "" : std::string(": ") + why));
  }

  Opening opening_;
  std::byte* shared_;
  diffbench_session* (*create_)(const diffbench_problem*) = nullptr;
  int (*upload_)(diffbench_session*, const T*) = nullptr;
  int (*advance_)(diffbench_session*, std::int64_t) = nullptr;
  int (*wait_)(diffbench_session*) = nullptr;
  int (*download_)(diffbench_session*, T*) = nullptr;
  void (*destroy_)(diffbench_session*) = nullptr;
  const char* (*error_)() = nullptr;
  diffbench_session* session_ = nullptr;
};

template <typename T>
std::unique_ptr<ServedSession> serve_dtype(void* library, std::byte* shared,
                                           const Opening& opening) {
  if (opening.form == "session") {
    return std::make_unique<OwnSession<T>>(library, shared, opening);
  }
  if (auto* solve = opening.form == "solve" ? find_solve<T>(library) : nullptr) {
    return std::make_unique<SolveSession<T>>(solve, shared, opening);
  }
  if (auto* step = opening.form == "step" ? find_step<T>(library) : nullptr) {
    return std::make_unique<StepSession<T>>(step, shared, opening);
  }
  throw std::runtime_error("there is no function " + opening.form + " of " + opening.dtype);
}

} // namespace

std::unique_ptr<ServedSession> serve(void* library, std::byte* shared, const Opening& opening) {
  return opening.dtype == "float64" ? serve_dtype<double>(library, shared, opening)
                                    : serve_dtype<float>(library, shared, opening);
}

} // namespace diffbench::tried
