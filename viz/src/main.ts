// The report page: reads the result files that `diffbench report` put into it and draws them.
import "./style.css";
import { takeAssumed } from "./data/assumed";
import { readFilm } from "./data/field";
import { filesOfPage, machineOf, type ResultFile } from "./data/results";
import { shortened } from "./data/units";
import { liveCard } from "./live/card";
import { livePage } from "./live/page";
import { captionOf } from "./page/caption";
import { beforeAfterSection } from "./page/before_after";
import { card } from "./page/card";
import { el } from "./page/dom";
import { fieldView, noField } from "./page/field_view";
import { articleInTurn, inTurns } from "./page/in_turns";
import { contextTable } from "./page/provenance";
import { themeButton } from "./page/theme";
import { whatIf } from "./page/whatif";
import { picturesOf } from "./pictures/catalogue";
import { storyPicture } from "./pictures/story";

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

/** Of the run that wrote the snapshots, where the page has but one that can be it. */
function filmSource(files: ResultFile[]): string[] {
  const [run, another] = files.filter((file) => file.experiment === "comparison");
  return run !== undefined && another === undefined ? captionOf("", run).slice(1) : [];
}

function fillArticle(article: HTMLElement, file: ResultFile, companions: ResultFile[]): void {
  const anchor = article.id;
  const pictures = picturesOf(file, companions);
  if (file.interrupted)
    article.append(el("p", { class: "warning" }, "Interrupted: what was measured until then."));
  if (file.sentence) article.append(el("p", { class: "sentence" }, file.sentence));
  if (file.notes.length > 0)
    article.append(el("ul", { class: "notes" }, ...file.notes.map((note) => el("li", {}, note))));
  if (pictures.length === 0)
    article.append(el("p", {}, "There is no picture for files of this command yet."));
  article.append(
    ...pictures.map((picture) =>
      card(picture, file, `${anchor}-${picture.id}`, {
        remake: () => picturesOf(file, companions).find(({ id }) => id === picture.id),
      }),
    ),
    el("details", { class: "machine" }, el("summary", {}, "Machine and build"), contextTable(file)),
  );
}

function navigation(
  groups: Map<string, ResultFile[]>,
  anchors: Map<ResultFile, string>,
  hasPairs: boolean,
): HTMLElement {
  // On a phone the list alone would fill the first screen.
  const open: Record<string, string> = matchMedia("(max-width: 480px)").matches ? {} : { open: "" };
  const contents = el(
    "details",
    open,
    el("summary", {}, "Contents"),
    ...[...groups.values()].map((files) =>
      el(
        "div",
        {},
        groups.size > 1 ? el("strong", {}, machineName(files)) : null,
        el(
          "ul",
          {},
          ...files.map((file) =>
            el("li", {}, el("a", { href: `#${anchors.get(file)}` }, headline(file))),
          ),
        ),
      ),
    ),
    el(
      "ul",
      {},
      hasPairs ? el("li", {}, el("a", { href: "#before-after" }, "Before and after")) : null,
      el("li", {}, el("a", { href: "#field" }, "The field")),
      el("li", {}, el("a", { href: "#what-if" }, "What if?")),
      el("li", {}, el("a", { href: "#live" }, "Your GPU, now")),
    ),
  );
  return el("nav", { "aria-label": "Result files" }, contents);
}

/** To what the address names and was not there when the page was opened; the panel's setting goes there itself. */
function goToFragment(): void {
  const [navigation] = performance.getEntriesByType("navigation");
  if ((navigation as PerformanceNavigationTiming | undefined)?.type !== "reload")
    document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: "instant" });
}

function start(): void {
  const files = filesOfPage(embedded("result"));
  takeAssumed(embedded("assumed")[0]);
  const film = readFilm(embedded("field")[0]);
  const anchors = new Map(files.map((file, index) => [file, `file-${index + 1}`]));
  const groups = byMachine(files);
  const main = el("main", {});
  if (files.length === 0) main.append(el("p", {}, "There are no results in this page."));
  const story = storyPicture(files);
  if (story !== null) main.append(card(story.picture, story.file, "story", { heading: "h2" }));
  if (film !== null) main.append(fieldView(film, filmSource(files)));
  if (groups.size > 1)
    main.append(
      el(
        "p",
        { class: "warning" },
        `These files come from ${groups.size} machines or builds; they are shown apart and must not be compared line by line.`,
      ),
    );
  const pieces: (() => void)[] = [];
  const pairs = beforeAfterSection(embedded("pair"), files, pieces);
  if (pairs !== null) main.append(pairs);
  const articleOf = (file: ResultFile, companions: ResultFile[]) =>
    articleInTurn(anchors.get(file) ?? "", headline(file), pieces, (article) =>
      fillArticle(article, file, companions),
    );
  for (const members of groups.values()) {
    const machine = machineName(members);
    main.append(
      el(
        "section",
        { class: "machine-group", "aria-label": machine },
        el("p", { class: "machine-name" }, machine),
        ...members.map((file) => articleOf(file, members)),
      ),
    );
  }
  pieces.push(() => main.append(...(film === null ? [noField()] : []), whatIf(files), liveCard()));
  if (story === null) pieces.shift()?.();
  document
    .querySelector("#page")
    ?.replaceChildren(
      el(
        "header",
        {},
        el("h1", {}, "diffbench report"),
        el("div", { class: "tools" }, themeButton()),
        navigation(groups, anchors, pairs !== null),
      ),
      main,
      el(
        "footer",
        {},
        el(
          "p",
          {},
          "Every figure stands beside its proof. Times are medians; a spread is that of the samples of one run.",
        ),
      ),
    );
  inTurns(pieces, () => {
    main.dataset["built"] = "yes";
    performance.mark("built");
    goToFragment();
  });
}

if (embedded("live").length > 0) document.querySelector("#page")?.replaceChildren(...livePage());
else start();
