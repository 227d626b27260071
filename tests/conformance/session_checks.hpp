// What backend.hpp promises about the calls of a session, beyond the bits of one run.
#pragma once

#include "oracle_check.hpp"

#include <gtest/gtest.h>

namespace diffbench::conformance {

/// advance(a) then advance(b) is advance(a + b), with a look at the field in between or without.
template <typename T>
testing::AssertionResult splits(const SessionMaker<T>& make, const Problem& problem) {
  const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny);
  const Field<T> after_7 = advanced_by_oracle(problem, initial, 7);
  const Field<T> after_17 = advanced_by_oracle(problem, initial, 17);

  const auto session = make(problem);
  session->upload(initial.cells());
  session->advance(7);
  session->advance(0);
  session->advance(10);
  if (auto ok = holds(*session, after_17); !ok) {
    return ok << " [7 + 0 + 10 steps]";
  }
  session->upload(initial.cells());
  session->advance(7);
  if (auto ok = holds(*session, after_7); !ok) {
    return ok << " [7 steps]";
  }
  session->advance(10);
  if (auto ok = holds(*session, after_17); !ok) {
    return ok << " [7 steps, download, 10 steps]";
  }
  session->upload(initial.cells());
  for (int step = 0; step < 17; ++step) {
    session->advance(1);
  }
  return holds(*session, after_17) << " [17 single steps]";
}

/// upload starts anew, also while work is outstanding; download may be repeated.
template <typename T>
testing::AssertionResult starts_anew(const SessionMaker<T>& make, const Problem& problem) {
  const Field<T> first = field_of<T>(Content::random, problem.nx, problem.ny, 1);
  const Field<T> second = field_of<T>(Content::random, problem.nx, problem.ny, 2);
  const Field<T> expected = advanced_by_oracle(problem, second, 5);

  const auto session = make(problem);
  session->upload(first.cells());
  session->advance(3);
  session->upload(second.cells());
  if (auto ok = holds(*session, second); !ok) {
    return ok << " [second upload, 0 steps]";
  }
  session->advance(5);
  session->wait();
  session->wait();
  if (auto ok = holds(*session, expected); !ok) {
    return ok << " [second upload, 5 steps]";
  }
  return holds(*session, expected) << " [second download]";
}

/// Two sessions of one backend, used in turns, do not disturb each other.
template <typename T>
testing::AssertionResult keeps_apart(const SessionMaker<T>& make, const Problem& problem) {
  const Field<T> one_initial = field_of<T>(Content::random, problem.nx, problem.ny, 1);
  const Field<T> two_initial = field_of<T>(Content::random, problem.ny, problem.nx, 2);
  Problem turned = problem;
  std::swap(turned.nx, turned.ny);
  turned.dt *= 0.5;

  const auto one = make(problem);
  const auto two = make(turned);
  one->upload(one_initial.cells());
  two->upload(two_initial.cells());
  for (int round = 0; round < 3; ++round) {
    one->advance(4);
    two->advance(3);
  }
  if (auto ok = holds(*two, advanced_by_oracle(turned, two_initial, 9)); !ok) {
    return ok << " [second session]";
  }
  return holds(*one, advanced_by_oracle(problem, one_initial, 12)) << " [first session]";
}

/// Sessions may be destroyed at any point of their life. What goes wrong here is for the sanitizers
/// and the time limit to find.
template <typename T>
void destroy_at_every_point(const SessionMaker<T>& make, const Problem& problem) {
  const Field<T> initial = field_of<T>(Content::random, problem.nx, problem.ny);
  (void)make(problem);
  make(problem)->upload(initial.cells());
  {
    const auto session = make(problem);
    session->upload(initial.cells());
    session->advance(50);
  }
}

} // namespace diffbench::conformance
