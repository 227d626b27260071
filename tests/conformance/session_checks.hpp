// SPDX-License-Identifier: Apache-2.0
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

/// Downloads each of these parts of the field by itself.
template <typename T>
testing::AssertionResult holds_each(Session<T>& session, const Field<T>& expected,
                                    std::span<const RowRange> ranges) {
  for (const RowRange& rows : ranges) {
    if (auto ok = holds_rows(session, expected, rows); !ok) {
      return ok << " [of rows " << rows.first << " to " << rows.last << "]";
    }
  }
  return testing::AssertionSuccess();
}

/// upload_rows replaces those rows and no others, and download_rows gives those that it was asked
/// for, at any point of a run: before the first step, after an even number of steps or an odd one,
/// with or without a look at the field before the next.
template <typename T>
testing::AssertionResult replaces_rows(const SessionMaker<T>& make, const Problem& problem) {
  const std::int64_t ny = problem.ny;
  const RowRange ranges[] = {{0, 1},           {ny - 1, ny},      {ny / 2, ny / 2 + 1},
                             {ny / 3, ny - 1}, {1, (ny + 1) / 2}, {0, ny}};
  Field<T> expected = field_of<T>(Content::random, problem.nx, ny);
  const auto session = make(problem);
  session->upload(expected.cells());
  std::int64_t steps = 0; // 0, 1, 2, ... before a replacement
  for (const RowRange& rows : ranges) {
    const bool looks = steps % 2 == 0;
    const Field<T> other =
        field_of<T>(Content::random, problem.nx, ny, static_cast<std::uint64_t>(100 + steps));
    GuardedCells<T> input(std::ssize(part_of(other, rows)));
    session->advance(steps);
    testing::AssertionResult ok = uploads_rows(*session, other, rows, input);
    advance_reference(problem, expected, steps);
    std::ranges::copy(part_of(other, rows), expected.row(rows.first));
    if (ok && looks) {
      ok = holds_each<T>(*session, expected, ranges);
    }
    if (ok) {
      session->advance(3);
      advance_reference(problem, expected, 3);
      ok = holds_each<T>(*session, expected, ranges);
    }
    if (!ok) {
      return ok << " [rows " << rows.first << " to " << rows.last << " replaced after " << steps
                << " steps" << (looks ? " and a look" : "") << "]";
    }
    ++steps;
  }
  return holds(*session, expected);
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
