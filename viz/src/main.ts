// SPDX-License-Identifier: Apache-2.0
// The report page: reads the result files that `diffbench report` put into it, and draws them.
import "./style.css";
import { num, text } from "./data/json";
import { isUndecided } from "./data/lead";
import { machineOf, readResultFile, type ResultFile } from "./data/results";
import { shortened } from "./data/units";
import { liveCard } from "./live/card";
import { livePage } from "./live/page";
import { dateOf, fillArticle, leadLines } from "./page/article";
import { el } from "./page/dom";
import { lessonOf, stepsOf } from "./page/lesson";
import { storyOf } from "./pictures/story";

/** What the program put into the page under that name. */
const embedded = (name: string): unknown[] =>
  [...document.querySelectorAll(`script.${name}`)].map((element) =>
    JSON.parse(element.textContent ?? "null"),
  );

/** Of so many files each shows its picture; of more it is opened by who wants it. */
const mostOpen = 12;

/** In groups, each in the place of its first file. */
function groupsOf(files: ResultFile[], name: (file: ResultFile) => string): ResultFile[][] {
  const groups = new Map<string, ResultFile[]>();
  for (const file of files) groups.set(name(file), [...(groups.get(name(file)) ?? []), file]);
  return [...groups.values()];
}

const readable = (experiment: string) => experiment.replaceAll("_", " ");
const titleOf = (file: ResultFile) => `${readable(file.experiment)}: ${shortened(file.name)}`;

/** Links to all parts of the page that have a place, machine by machine where there are several. */
function navigation(main: HTMLElement): HTMLElement {
  const parts = main.querySelectorAll<HTMLElement>("article, .step, .group, .machine-name");
  const link = (anchor: string, name: string) =>
    el("li", {}, el("a", { href: `#${anchor}` }, name));
  const list = el("ul");
  for (const part of parts) {
    const name = part.querySelector("h2")?.textContent ?? part.textContent ?? "";
    list.append(part.id === "" ? el("li", {}, el("strong", {}, name)) : link(part.id, name));
  }
  list.append(link("live", "Your GPU, now"));
  const contents = el("details", {}, el("summary", {}, "Contents"), list);
  // Beside the page it stays; on a phone it would fill the first screen.
  contents.open = matchMedia("(min-width: 1100px)").matches;
  return el("nav", { "aria-label": "Contents" }, contents);
}

/** To what the address names and was not there when the page was opened. */
function goToFragment(): void {
  const name = location.hash.slice(1);
  // A picture of a line that is not open yet: to that line.
  const target =
    document.getElementById(name) ?? document.getElementById(/^file-\d+/.exec(name)?.[0] ?? "");
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView({ behavior: "instant" });
}

function articleOf(file: ResultFile, id: string, open: boolean): HTMLElement {
  const article = el(
    "article",
    { id, "data-file": file.name, "aria-labelledby": `${id}-head` },
    el("h2", { id: `${id}-head` }, titleOf(file)),
  );
  fillArticle(article, file, open);
  return article;
}

/** Several files of one experiment are lines of one table, and each opens to its article. */
function groupOf(files: ResultFile[], idOf: (file: ResultFile) => string): HTMLElement {
  const id = `group-${idOf(files[0]!)}`;
  const lines = files.map((file) => {
    const line = el(
      "details",
      { class: "result", id: idOf(file), "data-file": file.name },
      el(
        "summary",
        {},
        el("strong", {}, shortened(file.name)),
        el(
          "span",
          {},
          leadLines(file)
            .map((each) => each.textContent)
            .join(" "),
        ),
        el("span", { class: "muted" }, dateOf(file)),
      ),
    );
    line.addEventListener("toggle", () => {
      if (line.open && line.childElementCount === 1) fillArticle(line, file, true);
    });
    return line;
  });
  return el(
    "section",
    { class: "group", id, "aria-labelledby": `${id}-head` },
    el("h2", { id: `${id}-head` }, `${readable(files[0]!.experiment)}: ${files.length} files`),
    ...lines,
  );
}

/** Said once for all files: why nothing is concluded, and what would help. */
function noConclusion(files: ResultFile[]): HTMLElement | null {
  const disturbed = files.filter(isUndecided);
  const [first] = disturbed;
  if (first === undefined) return null;
  const names =
    disturbed.length === files.length
      ? ""
      : ` It is so with ${disturbed.map(({ name }) => shortened(name)).join(", ")}.`;
  const help = " Measure again when nothing else runs.";
  return el("p", { class: "warning no-conclusion" }, `${first.sentences.join(" ")}${help}${names}`);
}

/** What, which machine, when. */
function headlineOf(files: ResultFile[]): string {
  const lesson = lessonOf(files);
  const [first] = lesson === null ? files : [lesson];
  if (first === undefined) return "There are no results in this page";
  const kinds = groupsOf(files, ({ experiment }) => experiment).length;
  const [nx, ny] = ["nx", "ny"].map((key) => num(first.data, "problem", key));
  const own = lesson === null && files.length > 1 ? "" : text(first.data, "title");
  const what =
    own !== ""
      ? own
      : kinds === 1
        ? [
            first.experiment[0]!.toUpperCase() + readable(first.experiment).slice(1),
            ...(files.length > 1
              ? [`${files.length} files`]
              : nx && ny
                ? [`${nx}x${ny} cells`]
                : []),
          ].join(", ")
        : `${files.length} results of ${kinds} kinds`;
  const machines = groupsOf(files, machineOf);
  const [machine = []] = machines;
  const parts = ["cpu_model", "gpu_name"].map((name) => text(machine[0]?.context, name));
  const dates = [...new Set(files.map((file) => dateOf(file).slice(0, 10)))].sort();
  return [
    what,
    machines.length === 1
      ? parts.filter((part) => part !== "" && part !== "none").map((part) => shortened(part))
      : `${machines.length} machines`,
    dates.length > 1 ? `${dates[0]} to ${dates.at(-1)}` : (dates[0] ?? ""),
  ]
    .flat()
    .filter((part) => part !== "")
    .join(" · ");
}

/** Builds the page, and goes to what the address names. */
function start(): void {
  const files = embedded("result").map(readResultFile);
  const idOf = (file: ResultFile) => `file-${files.indexOf(file) + 1}`;
  const main = el("main", {});
  const lesson = lessonOf(files);
  const story = lesson === null ? storyOf(files) : null;
  const shown = new Set([lesson, story]);
  const unsure = noConclusion(files);
  if (unsure !== null) main.append(unsure);
  const machines = groupsOf(files, machineOf);
  const nameOf = (file: ResultFile) =>
    machines.length === 1 ? "" : el("p", { class: "machine-name" }, machineOf(file, shortened));
  if (lesson !== null) {
    main.append(
      el("p", { class: "sentence" }, text(lesson.data, "teaches")),
      ...stepsOf(lesson, files, idOf, shown),
    );
  }
  if (story !== null) {
    main.append(nameOf(story));
    const article = articleOf(story, idOf(story), true);
    article.classList.add("story");
    main.append(article);
  }
  if (machines.length > 1)
    main.append(
      el(
        "p",
        { class: "warning" },
        `These files come from ${machines.length} machines or builds; they are shown apart and must not be compared line by line.`,
      ),
    );
  for (const machine of machines) {
    const rest = machine.filter((file) => !shown.has(file));
    const kinds = groupsOf(rest, ({ experiment }) => experiment);
    if (rest.length === 0) continue;
    main.append(
      el(
        "div",
        { class: "machine-group" },
        nameOf(machine[0]!),
        ...kinds.map((alike) =>
          alike.length === 1
            ? articleOf(alike[0]!, idOf(alike[0]!), files.length <= mostOpen)
            : groupOf(alike, idOf),
        ),
      ),
    );
  }
  main.append(liveCard());
  const title = headlineOf(files);
  document.title = title;
  document
    .querySelector("#page")
    ?.replaceChildren(
      el("header", {}, el("h1", {}, title)),
      navigation(main),
      main,
      el(
        "footer",
        {},
        el("p", {}, "Times are medians; a spread is that of the samples of one run."),
      ),
    );
  goToFragment();
}

addEventListener("hashchange", goToFragment);
if (embedded("live").length > 0) document.querySelector("#page")?.replaceChildren(...livePage());
else start();
