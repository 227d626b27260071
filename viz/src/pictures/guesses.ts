// SPDX-License-Identifier: Apache-2.0
// The class sheets of a lesson: what everybody guessed, against what came out on their own machines.
import { list, num, positive, text } from "../data/json";
import { type Column, tableOf } from "../data/table";
import { figure, percent, shortened, times } from "../data/units";
import { heightOfBars, inRows, logLimits, plainLine, stackedBars, valueAxis } from "./chart";
import type { Measured } from "./option";
import { type Palette, seriesColour } from "./palette";
import { drawing } from "./picture";
import { teller } from "./tooltip";

interface Question {
  name: string;
  /** That were right or wrong. */
  guesses: number;
  right: number;
  medianRatio: number | null;
  lines: Line[];
}

interface Line {
  question: string;
  student: string;
  host: string;
  date: string;
  guess: string;
  answer: string;
  source: string;
  verdict: string;
  /** Guess over answer; null of a choice, and without a guess. */
  ratio: number | null;
}

const numbered = (lesson: unknown, of: unknown) =>
  `${num(lesson, "lesson") ?? "?"}.${num(of, "question") ?? "?"} ${text(of, "text")}`;

function questionsOf(data: unknown): Question[] {
  const lines = list(data, "results").map((line): Line => {
    const unit = text(line, "unit");
    const withUnit = (figures: string) => (figures && unit ? `${figures} ${unit}` : figures);
    return {
      question: numbered(data, line),
      student: text(line, "name") || "(no name)",
      host: text(line, "host"),
      date: text(line, "date"),
      guess: withUnit(text(line, "guess")),
      answer: withUnit(text(line, "answer")),
      source: text(line, "source"),
      verdict: text(line, "verdict"),
      ratio: positive(line, "ratio"),
    };
  });
  return list(data, "questions").map((question): Question => {
    const name = numbered(data, question);
    return {
      name,
      guesses: num(question, "guesses") ?? 0,
      right: num(question, "right") ?? 0,
      medianRatio: positive(question, "median_ratio"),
      lines: lines.filter((line) => line.question === name),
    };
  });
}

const columns: Column<Line>[] = [
  { name: "question", of: ({ question }) => question },
  { name: "student", of: ({ student }) => student },
  { name: "host", of: ({ host }) => host },
  { name: "guess", of: ({ guess }) => guess || null },
  { name: "answer", of: ({ answer }) => answer || null },
  { name: "guess / answer", show: times, of: ({ ratio }) => ratio },
  { name: "verdict", of: ({ verdict }) => verdict || null },
  { name: "source of the answer", of: ({ source }) => source },
  { name: "date", of: ({ date }) => date },
];
const tell = teller(columns);
const told = ["host", "guess", "answer", "guess / answer", "verdict"];

const perQuestion: Column<Question>[] = [
  { name: "question", of: ({ name }) => name },
  { name: "guesses", show: String, of: ({ guesses }) => guesses },
  { name: "right", show: String, of: ({ right }) => right },
  {
    name: "right of all",
    show: percent,
    of: ({ guesses, right }) => (guesses === 0 ? null : right / guesses),
  },
  { name: "median of guess / answer", show: times, of: ({ medianRatio }) => medianRatio },
];
const tellQuestion = teller(perQuestion);

/** Marks of one row stand beside each other, so that equal guesses can be counted. */
const offsetOf = (place: number, all: number) => (all < 2 ? 0 : (place / (all - 1) - 0.5) * 22);

function marks(palette: Palette, name: string, right: boolean, questions: Question[]): Measured {
  return {
    name,
    type: "scatter",
    symbol: right ? "circle" : "triangle",
    symbolSize: 8,
    itemStyle: { color: seriesColour(palette, right ? 2 : 1), opacity: 0.75 },
    data: questions.flatMap(({ lines }, row) =>
      lines.flatMap((line, place) =>
        line.ratio === null || (line.verdict === "right") !== right
          ? []
          : [
              {
                value: [line.ratio, row],
                symbolOffset: [0, offsetOf(place, lines.length)],
                told: tell(line.student, line, told),
              },
            ],
      ),
    ),
  };
}

const longest = 44; // characters of a question beside its row

export const guesses = drawing("guesses", ["lesson"], (file) => {
  const questions = questionsOf(file.data);
  const guessed = questions.filter((each) => each.guesses > 0);
  if (guessed.length === 0) return "nobody has guessed";
  const figures = guessed.filter(({ lines }) => lines.some(({ ratio }) => ratio !== null));
  const shares = ["how many are right"];
  const namesOf = (of: Question[]) => of.map(({ name }) => shortened(name, longest));
  const share = ({ right, guesses: all }: Question) => `${right} of ${all}`;
  return {
    reading: file.sentence,
    timeless: true, // without an answer nobody is right or wrong, and no ratio is there
    alternative:
      "Below each other the questions that ask for a number: on a logarithmic axis a mark for each student, guess over answer; 1 is right. Another view has the number of right and of wrong guesses of every question.",
    height: heightOfBars(guessed.length, 34),
    table: tableOf(
      columns,
      questions.flatMap(({ lines }) => lines),
    ),
    more: [["By question", tableOf(perQuestion, guessed)]],
    notDrawn: questions
      .filter((each) => each.guesses === 0)
      .map(({ name }): [string, string] => [name, "nobody's guess has an answer"]),
    verification:
      "Each answer is of the student's own machine, and a guess is right as the lesson said there: up to the factor that its question allows, mostly 2.",
    variants: figures.length === 0 ? shares : ["how far off", ...shares],
    option: (palette, narrow, variant) => {
      if (variant === 1 || figures.length === 0) {
        const parts = [
          { name: "right", colour: 2, of: ({ right }: Question) => right },
          { name: "wrong", colour: 1, of: ({ right, guesses: all }: Question) => all - right },
        ];
        return {
          ...inRows(palette, narrow, { names: namesOf(guessed), figures: guessed.map(share) }),
          xAxis: valueAxis(palette, { name: "guesses", show: figure, whole: true }),
          series: stackedBars(
            palette,
            parts.map(({ name, colour, of }) => ({
              name,
              colour: seriesColour(palette, colour),
              points: guessed.map((each) => ({
                value: of(each),
                told: tellQuestion(each.name, each),
              })),
            })),
            22,
          ),
        };
      }
      const ratios = figures.flatMap(({ lines }) => lines.flatMap(({ ratio }) => ratio ?? []));
      return {
        ...inRows(palette, narrow, { names: namesOf(figures), figures: figures.map(share) }),
        tooltip: { ...inRows(palette, narrow, { names: [] }).tooltip, trigger: "item" },
        xAxis: valueAxis(palette, {
          name: "guess / answer",
          log: true,
          show: times,
          ...logLimits([0.5, 2, ...ratios]),
        }),
        series: [
          {
            ...marks(palette, "right", true, figures),
            markLine: {
              ...plainLine,
              lineStyle: { color: palette.text },
              label: { show: false },
              data: [{ xAxis: 1 }],
            },
          },
          marks(palette, "not right", false, figures),
        ],
      };
    },
  };
});
