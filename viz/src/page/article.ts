// SPDX-License-Identifier: Apache-2.0
// A result file as an article: what it says first, its pictures, and all else that it says.
import { facts, text } from "../data/json";
import { doubtOf, isUndecided, leadOf } from "../data/lead";
import type { ResultFile } from "../data/results";
import { picturesOf } from "../pictures/catalogue";
import { card } from "./card";
import { el } from "./dom";

/** Its figures set apart. Of an undecided file nothing: the page says so once, for all of them. */
export const leadLines = (file: ResultFile): HTMLElement[] =>
  isUndecided(file)
    ? []
    : leadOf(file).map((pieces) =>
        el(
          "p",
          { class: "lead" },
          ...pieces.map(({ text, isFigure }) => (isFigure ? el("strong", {}, text) : text)),
        ),
      );

/** All sentences and notes, the command, and everything that the file says of its machine and build. */
function inFull(file: ResultFile): HTMLElement {
  const sentences = isUndecided(file) ? [] : file.sentences;
  const about = [["file", file.name], ["command", file.command], ...facts(file.context)] as const;
  return el(
    "details",
    { class: "in-full" },
    el("summary", {}, "In full: sentences, notes, machine and build"),
    ...sentences.map((line) => el("p", {}, line)),
    file.notes.length === 0
      ? null
      : el("ul", { class: "notes" }, ...file.notes.map((note) => el("li", {}, note))),
    el(
      "dl",
      { class: "context" },
      ...about.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    ),
  );
}

/** When it was measured, to the minute. */
export const dateOf = (file: ResultFile): string =>
  text(file.context, "date").replace("T", " ").slice(0, 16);

/** Its first picture that is drawn is unfolded where it is `open`. */
export function fillArticle(article: HTMLElement, file: ResultFile, open: boolean): void {
  const pictures = picturesOf(file);
  const first = pictures.find(({ option }) => option !== null) ?? pictures[0];
  const parts = [
    file.interrupted
      ? el("p", { class: "warning" }, "Interrupted: what was measured until then.")
      : null,
    ...leadLines(file),
    doubtOf(file) === "" ? null : el("p", { class: "warning" }, doubtOf(file)),
    ...pictures.map((picture) =>
      card(picture, file, `${article.id}-${picture.id}`, open && picture === first),
    ),
    inFull(file),
  ];
  article.append(...parts.filter((part) => part !== null));
}
