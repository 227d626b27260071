// SPDX-License-Identifier: Apache-2.0
// The report page: reads the result files that `diffbench report` put into it, or that are dropped onto it, and
// draws them.
import "./style.css";
import { text } from "./data/json";
import { machineOf, readResultFile, type ResultFile } from "./data/results";
import { shortened } from "./data/units";
import { liveCard } from "./live/card";
import { livePage } from "./live/page";
import { card } from "./page/card";
import { fillArticle } from "./page/article";
import { el } from "./page/dom";
import { dropTarget } from "./page/dropped";
import { articleInTurn, inTurns } from "./page/in_turns";
import { endPage } from "./page/lifetime";
import { themeButton } from "./page/theme";
import { storyOf } from "./pictures/story";

/** What the program put into the page under that name. */
const embedded = (name: string): unknown[] =>
  [...document.querySelectorAll(`script.${name}`)].map((element) =>
    JSON.parse(element.textContent ?? "null"),
  );

/** Files of different machines stand apart: their times must not be read as one table. */
function byMachine(files: ResultFile[]): Map<string, ResultFile[]> {
  const groups = new Map<string, ResultFile[]>();
  for (const file of files) {
    const machine = machineOf(file);
    groups.set(machine, [...(groups.get(machine) ?? []), file]);
  }
  return groups;
}

const headline = (file: ResultFile) =>
  `${file.experiment.replaceAll("_", " ")}: ${shortened(file.name)}`;

/** Of the files of one machine. */
const machineName = (files: ResultFile[]) => (files[0] ? machineOf(files[0], shortened) : "");

/** What is measured, and the question where an experiment has several. */
const kindOf = ({ experiment, data }: ResultFile) =>
  [experiment, text(data, "question"), text(data, "mode")].join(" ");

/** Of the files of a machine that measured the same thing the newest is open: dates can be compared as texts. */
const isNewest = (file: ResultFile, companions: ResultFile[]): boolean =>
  companions.every(
    (each) =>
      kindOf(each) !== kindOf(file) || text(each.context, "date") <= text(file.context, "date"),
  );

/** Links to all parts of the page that have a place, machine by machine where there are several. */
function navigation(main: HTMLElement): HTMLElement {
  const parts = main.querySelectorAll<HTMLElement>("section[id], article[id], .machine-name");
  const link = (anchor: string, name: string) =>
    el("li", {}, el("a", { href: `#${anchor}` }, name));
  const list = el("ul");
  for (const part of parts) {
    const name = part.querySelector("h2")?.textContent ?? part.ariaLabel ?? part.textContent ?? "";
    if (part.id !== "") list.append(link(part.id, name));
    else if (main.querySelectorAll(".machine-name").length > 1)
      list.append(el("li", {}, el("strong", {}, name)));
  }
  list.append(link("live", "Your GPU, now"));
  const contents = el("details", {}, el("summary", {}, "Contents"), list);
  // Beside the page it stays; on a phone it would fill the first screen.
  contents.open = matchMedia("(min-width: 1100px)").matches;
  return el("nav", { "aria-label": "Contents" }, contents);
}

/** To what the address names and was not there when the page was opened. */
function goToFragment(): void {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView({ behavior: "instant" });
}

const isReload = () => {
  const [navigation] = performance.getEntriesByType("navigation");
  return (navigation as PerformanceNavigationTiming | undefined)?.type === "reload";
};

const dropped: unknown[] = [];
/** Made once, as it listens to the whole page. */
const isLive = embedded("live").length > 0;
const target = isLive
  ? null
  : dropTarget((parts) => {
      const first = embedded("result").length + dropped.length + 1;
      dropped.push(...parts);
      start(`file-${first}`);
    });

/** Builds the page, and goes to that part of it, or to what the address names. */
function start(goTo?: string): void {
  endPage();
  const files = [...embedded("result"), ...dropped].map(readResultFile);
  const groups = byMachine(files);
  const main = el("main", {});
  if (files.length === 0) main.append(el("p", {}, "There are no results in this page."));
  const story = storyOf(files);
  if (story !== null) main.append(card(story.picture, story.file, "story", { heading: "h2" }));
  const pieces: (() => void)[] = [];
  if (groups.size > 1)
    main.append(
      el(
        "p",
        { class: "warning" },
        `These files come from ${groups.size} machines or builds; they are shown apart and must not be compared line by line.`,
      ),
    );
  const articleOf = (file: ResultFile, companions: ResultFile[]) =>
    articleInTurn(`file-${files.indexOf(file) + 1}`, headline(file), pieces, (article) =>
      fillArticle(article, file, isNewest(file, companions)),
    );
  for (const members of groups.values())
    main.append(
      el(
        "div",
        { class: "machine-group" },
        el("p", { class: "machine-name" }, machineName(members)),
        ...members.map((file) => articleOf(file, members)),
      ),
    );
  pieces.push(() => main.append(liveCard()));
  if (story === null) pieces.shift()?.();
  document
    .querySelector("#page")
    ?.replaceChildren(
      el(
        "header",
        {},
        el("h1", {}, "diffbench report"),
        el("div", { class: "tools" }, themeButton(), ...(target?.controls ?? [])),
      ),
      target?.told ?? "",
      navigation(main),
      main,
      el(
        "footer",
        {},
        el("p", {}, "Times are medians; a spread is that of the samples of one run."),
      ),
    );
  inTurns(pieces, () => {
    main.dataset["built"] = "yes";
    performance.mark("built");
    if (goTo !== undefined) document.getElementById(goTo)?.scrollIntoView();
    else if (!isReload()) goToFragment();
  });
}

addEventListener("hashchange", goToFragment);
if (isLive) document.querySelector("#page")?.replaceChildren(...livePage());
else start();
