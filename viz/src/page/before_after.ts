// SPDX-License-Identifier: Apache-2.0
// Files that came before and after one another: what `diffbench compare` says of the newest two, what
// differs between them, and the strip of all runs where there are more.
import type { Json } from "../data/json";
import { chainsOf, readPair, type Pair } from "../data/pairs";
import { machineOf, type ResultFile } from "../data/results";
import { shortened } from "../data/units";
import { beforeAfter } from "../pictures/before_after";
import { history } from "../pictures/history";
import { card } from "./card";
import { el } from "./dom";
import { articleInTurn } from "./in_turns";
import { notesList } from "./notes";
import { tableView } from "./table_view";

function differences({ differences: all }: Pair): HTMLElement | null {
  if (all.length === 0) return null;
  const table = {
    columns: [{ name: "differs" }, { name: "before" }, { name: "after" }],
    rows: all.map(({ what, old, new: now }) => [what, old, now]),
  };
  return el(
    "details",
    {},
    el("summary", {}, `What else differs (${all.length})`),
    tableView(table, "What differs between the two runs"),
  );
}

function headline({ before, after }: Pair): string {
  const kind = after.experiment.replaceAll("_", " ");
  return `Before and after: ${kind} ${shortened(before.name)} → ${shortened(after.name)}`;
}

function fillArticle(article: HTMLElement, pair: Pair): void {
  const { before, after, sameMachine, verdicts } = pair;
  const machine = (file: ResultFile) => machineOf(file, shortened);
  const parts = [
    sameMachine
      ? el("p", { class: "muted" }, machine(after))
      : el(
          "p",
          { class: "warning" },
          `Two machines. Before: ${machine(before)}. After: ${machine(after)}.`,
        ),
    differences(pair),
    notesList(verdicts.notes),
    card(beforeAfter(pair), verdicts, `${article.id}-pair`),
  ];
  article.append(...parts.filter((part) => part !== null));
}

/** Null where no file of the page is comparable with another one. `pieces` fill it. */
export function beforeAfterSection(
  parts: Json[],
  files: ResultFile[],
  pieces: (() => void)[],
): HTMLElement | null {
  const chains = chainsOf(parts.flatMap((part) => readPair(part, files) ?? []));
  if (chains.length === 0) return null;
  const articles = chains.map((chain, index) => {
    const newest = chain.at(-1)!;
    const anchor = `before-after-${index + 1}`;
    const article = articleInTurn(anchor, headline(newest), pieces, (it) =>
      fillArticle(it, newest),
    );
    pieces.push(() => {
      const strip = history(chain);
      if (strip !== null)
        article.append(card(strip, newest.after, `${anchor}-history`, { open: false }));
    });
    return article;
  });
  const paired = new Set(chains.flat().flatMap(({ before, after }) => [before, after]));
  const alone = files.filter(
    (file) =>
      !paired.has(file) &&
      [...paired].some(
        (other) => other.experiment === file.experiment && machineOf(other) === machineOf(file),
      ),
  );
  return el(
    "section",
    { class: "machine-group", id: "before-after", "aria-label": "Before and after" },
    ...articles,
    alone.length === 0
      ? null
      : el(
          "p",
          { class: "muted" },
          `Not compared, as no other run had its problem and settings: ${alone.map(({ name }) => shortened(name)).join(", ")}.`,
        ),
  );
}
