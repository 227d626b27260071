// SPDX-License-Identifier: Apache-2.0
// A lesson that was taken, as a page: its steps with questions, guesses, answers and the results behind them.
import { list, text, texts, type Json } from "../data/json";
import type { ResultFile } from "../data/results";
import { fillArticle } from "./article";
import { el } from "./dom";

/** The one of a page that is a lesson; a page of several is one of results. */
export function lessonOf(files: ResultFile[]): ResultFile | null {
  const [first, ...others] = files.filter(({ experiment }) => experiment === "lesson_taken");
  return first !== undefined && others.length === 0 ? first : null;
}

const said = (name: string, words: string): HTMLElement | null =>
  words === "" ? null : el("p", { class: name }, words);

function questionOf(asked: Json): HTMLElement {
  const [guess, verdict] = [text(asked, "guess"), text(asked, "verdict")];
  const choices = texts(asked, "choices").map((choice) => el("li", {}, choice));
  return el(
    "div",
    { class: "question" },
    el("h3", {}, `${text(asked, "number")} ${text(asked, "text")}`),
    choices.length === 0 ? null : el("ol", { type: "a" }, ...choices),
    said("guess", guess && `Guess: ${guess}${verdict && `: ${verdict}`}`),
    said("answer", text(asked, "answer")),
    said("why", text(asked, "why")),
  );
}

/** The steps, each with its file; `shown` gets the files. */
export function stepsOf(
  lesson: ResultFile,
  files: ResultFile[],
  idOf: (file: ResultFile) => string,
  shown: Set<ResultFile | null>,
): HTMLElement[] {
  return list(lesson.data, "steps").map((step, index) => {
    const command = text(step, "command");
    const file = files.find(({ name }) => name === text(step, "file"));
    const id = `step-${index + 1}`;
    const section = el(
      "section",
      { class: "step", id, "aria-labelledby": `${id}-head` },
      el("h2", { id: `${id}-head` }, `Step ${index + 1}: ${text(step, "name")}`),
      el("p", {}, text(step, "text")),
      el("p", { class: "muted" }, command),
    );
    const asked = list(lesson.data, "results").filter((each) => text(each, "command") === command);
    section.append(el("div", { class: "questions" }, ...asked.map(questionOf)));
    if (file !== undefined) {
      shown.add(file);
      const result = el("div", { class: "result-of-step", id: idOf(file), "data-file": file.name });
      fillArticle(result, file, true);
      section.append(result);
    }
    return section;
  });
}
