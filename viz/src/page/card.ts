// SPDX-License-Identifier: Apache-2.0
// A picture as a card: chart, table, downloads; and in a line machine and command, which open to all of it.
import { machineOf, type ResultFile } from "../data/results";
import { csvOf } from "../data/table";
import type { Picture } from "../pictures/picture";
import { captionOf } from "./caption";
import { ChartView } from "./chart_view";
import { chooser } from "./controls";
import { button, download, el } from "./dom";
import { keep, kept } from "./kept";
import { provenance } from "./provenance";
import { tableView } from "./table_view";

const usualHeight = matchMedia("(max-width: 600px)").matches ? 210 : 320;

/** Made only when it is opened: a page may have hundreds of large tables. */
function folded(title: string, make: () => Node): HTMLElement {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(make());
  });
  return details;
}

function reasonsOf(notDrawn: [string, string][]): HTMLElement {
  const byReason = new Map<string, string[]>();
  for (const [name, reason] of notDrawn)
    byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  return el(
    "ul",
    {},
    ...[...byReason].map(([reason, names]) => {
      const first = names.slice(0, 30).join("; ");
      const rest = names.length > 30 ? ` and ${names.length - 30} more` : "";
      return el("li", {}, el("strong", {}, first + rest), `: ${reason}`);
    }),
  );
}

/** What is not drawn, with the reason. */
function notDrawnOf(left: [string, string][]): HTMLElement | null {
  if (left.length === 0) return null;
  const details = folded(`Not in the picture (${left.length})`, () => reasonsOf(left));
  details.className = "not-drawn";
  return details;
}

/** In a line where the numbers come from, and below it all of that. */
function sourceOf(file: ResultFile): HTMLElement {
  return el(
    "details",
    { class: "source" },
    el("summary", {}, el("span", {}, machineOf(file)), el("code", {}, file.command)),
    provenance(file),
  );
}

interface How {
  /** One of "h2" is a card of the page itself, and cannot be folded. */
  heading?: "h2" | "h3";
  /** Whether it is unfolded at first. */
  open?: boolean;
}

/** The chart with what chooses and zooms in it. */
function chartParts(picture: Picture, option: NonNullable<Picture["option"]>, anchor: string) {
  const { views = [] } = picture;
  let view = Math.max(0, views.indexOf(kept(`${anchor} view`) ?? ""));
  const chart = new ChartView(
    (palette, narrow) => option(palette, narrow, view),
    `${picture.title}. ${picture.alternative}`,
    picture.height ?? usualHeight,
  );
  const choose = (chosen: number) => {
    view = chosen;
    keep(`${anchor} view`, views[view]!);
    chart.redraw();
  };
  const parts = [
    ...(views.length > 1
      ? [el("div", { class: "views" }, chooser("What is shown", views, view, choose))]
      : []),
    ...(picture.zooms ? [chart.zoomButtons()] : []),
    chart.element,
    chart.figures,
  ];
  return { chart, parts };
}

/** What stands below the title. */
function fill(card: HTMLElement, picture: Picture, file: ResultFile, anchor: string): void {
  const { title, option } = picture;
  const drawn = option === null ? null : chartParts(picture, option, anchor);
  const makeTable = () => tableView(picture.table(), `Table: ${title}, ${anchor}`);
  const name = `${file.name.replace(/\.json$/, "").replace(/[^\w.-]+/g, "_")}-${picture.id}`;
  const saveCsv = () =>
    download(`${name}.csv`, new Blob([csvOf(picture.table())], { type: "text/csv" }));
  const savePng = () =>
    void drawn?.chart.png(captionOf(title, file)).then((png) => download(`${name}.png`, png));
  const actions: [string, HTMLElement][] = [
    ...(drawn === null ? [] : [["Save PNG", button("PNG", savePng)] as [string, HTMLElement]]),
    ["Save CSV", button("CSV", saveCsv)],
    ["Link", el("a", { href: `#${anchor}` }, "Link")],
  ];
  for (const [name, action] of actions) action.setAttribute("aria-label", `${name}: ${title}`);
  const parts = [
    ...(drawn === null ? [makeTable()] : drawn.parts),
    el(
      "div",
      { class: "actions" },
      drawn === null ? null : folded(`Table (${picture.rows} rows)`, makeTable),
      notDrawnOf(picture.notDrawn),
      ...actions.map(([, action]) => action),
    ),
    sourceOf(file),
  ];
  card.append(...parts);
}

export function card(
  picture: Picture,
  file: ResultFile,
  anchor: string,
  { heading = "h3", open = true }: How = {},
): HTMLElement {
  const titleId = `${anchor}-title`;
  const title = el(heading, { id: titleId }, picture.title);
  const named = { class: "card", id: anchor, "data-picture": picture.id };
  if (heading === "h2") {
    const section = el(
      "section",
      { ...named, "aria-labelledby": titleId },
      title,
      el("p", { class: "headline" }, file.sentence),
    );
    fill(section, picture, file, anchor);
    return section;
  }
  const details = el("details", named, el("summary", {}, title));
  const unfold = () => {
    if (details.childElementCount === 1) fill(details, picture, file, anchor);
  };
  details.addEventListener("toggle", () => {
    keep(`${anchor} open`, String(details.open));
    if (details.open) unfold();
  });
  if ((kept(`${anchor} open`) ?? String(open)) === "true") {
    unfold();
    details.open = true;
  }
  return details;
}
