// SPDX-License-Identifier: Apache-2.0
#include "sides.hpp"

#include "command_words.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

Program program_of(std::string_view who, const std::string& command,
                   const CommandSettings& settings) {
  return as_of(who, [&] {
    return Program({.words = settings.shell == Shell::sh
                                 ? std::vector<std::string>{"sh", "-c", command}
                                 : command_words(command),
                    .limit_seconds = settings.limit_seconds});
  });
}

std::string ending(const ProgramRun& run) {
  return run.signal != 0 ? fmt::format("was ended by signal {}", run.signal)
                         : fmt::format("ended with exit code {}", run.status);
}

} // namespace

CommandSides::CommandSides(const std::string& a, const std::string& b,
                           const CommandSettings& settings)
    : settings_(settings) {
  programs_.push_back(program_of("A", a, settings));
  programs_.push_back(program_of("B", b, settings));
  if (!settings.prepare.empty()) {
    prepare_ = program_of("--prepare", settings.prepare, settings);
  }
}

void CommandSides::prepare() const {
  if (!prepare_) {
    return;
  }
  as_of("--prepare", [&] {
    ProgramOutput output;
    if (const ProgramRun run = prepare_->run(output); run.status != 0) {
      throw Error(fmt::format("{}{}{}", ending(run), output.last_words.empty() ? "" : ": ",
                              one_line(output.last_words)));
    }
  });
}

template <typename Run>
ProgramRun CommandSides::checked(Side side, Run run) const {
  prepare();
  return as_of(to_string(side), [&] {
    std::string words;
    const ProgramRun done = run(words);
    if (done.status != 0) {
      throw Error(fmt::format("{}{}{}", ending(done), words.empty() ? "" : ": ", one_line(words)));
    }
    return done;
  });
}

WarmUp CommandSides::warm_up(const std::function<bool()>& has_time) const {
  const int wanted = std::max(settings_.warmup, settings_.same_output ? 1 : 0);
  WarmUp done;
  while (done.runs < wanted && (done.runs == 0 || has_time())) {
    std::array<ProgramOutput, 2> outputs;
    const Stopwatch watch;
    for (const Side side : {Side::a, Side::b}) {
      ProgramOutput& output = outputs[index_of(side)];
      as_of(fmt::format("warm-up {}", done.runs + 1), [&] {
        (void)checked(side, [&](std::string& words) {
          const ProgramRun run = program(side).run(output);
          words = output.last_words;
          return run;
        });
      });
    }
    done = {.runs = done.runs + 1, .seconds = watch.seconds()};
    if (settings_.same_output && outputs[0].digest != outputs[1].digest) {
      throw NotVerified(
          outputs[0].bytes != outputs[1].bytes
              ? fmt::format("the outputs differ: A wrote {} bytes, B {}", outputs[0].bytes,
                            outputs[1].bytes)
              : fmt::format("the outputs differ: {} bytes of each, but not the same ones",
                            outputs[0].bytes));
    }
  }
  return done;
}

ProgramRun CommandSides::run(Side side) const {
  return checked(side, [&](std::string& words) {
    const ProgramRun done = program(side).run();
    if (done.status != 0) { // once more, to read what it says
      prepare();
      ProgramOutput output;
      words = program(side).run(output).status != 0 ? output.last_words : "not when it ran again";
    }
    return done;
  });
}

} // namespace diffbench::bench
