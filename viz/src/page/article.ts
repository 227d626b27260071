// SPDX-License-Identifier: Apache-2.0
// A result file as an article: what it says, its pictures, and its machine.
import type { ResultFile } from "../data/results";
import { picturesOf } from "../pictures/catalogue";
import { card } from "./card";
import { el } from "./dom";
import { notesList } from "./notes";
import { contextTable } from "./provenance";

/** Its first picture is unfolded where it is `open`. */
export function fillArticle(article: HTMLElement, file: ResultFile, open: boolean): void {
  const pictures = picturesOf(file);
  const parts = [
    file.interrupted
      ? el("p", { class: "warning" }, "Interrupted: what was measured until then.")
      : null,
    ...file.sentence.split("\n").map((line) => el("p", { class: "sentence" }, line)),
    notesList(file.notes),
    ...pictures.map((picture, index) =>
      card(picture, file, `${article.id}-${picture.id}`, { open: open && index === 0 }),
    ),
    el("details", { class: "machine" }, el("summary", {}, "Machine and build"), contextTable(file)),
  ];
  article.append(...parts.filter((part) => part !== null));
}
