// SPDX-License-Identifier: Apache-2.0
// A picture as a card: chart, table, downloads.
import type { ResultFile } from "../data/results";
import { csvOf } from "../data/table";
import type { Picture } from "../pictures/picture";
import { ChartView } from "./chart_view";
import { chooser } from "./controls";
import { button, download, el } from "./dom";
import { captionOf, pngOf, svgOf } from "./saved_picture";
import { tableView } from "./table_view";
import { palette } from "./theme";

const usualHeight = (width: number) => (width < 600 ? 240 : 320);

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

/** The chart with what chooses in it, and what saves it. */
function chartParts(picture: Picture, option: NonNullable<Picture["option"]>) {
  const { views = [] } = picture;
  const height = picture.height ?? usualHeight;
  let view = 0;
  const chart = new ChartView(
    (palette, width) => option(palette, width, view),
    `${picture.title}. ${picture.alternative}`,
    height,
  );
  const choose = (chosen: number) => {
    view = chosen;
    chart.redraw();
  };
  const parts = [
    ...(views.length > 1
      ? [el("div", { class: "views" }, chooser("What is shown", views, view, choose))]
      : []),
    chart.element,
    chart.figures,
  ];
  const svg = (caption: string[]) =>
    svgOf((width) => option(palette(), width, view), height, caption, palette());
  return { svg, parts };
}

/** What stands below the title. */
function fill(card: HTMLElement, picture: Picture, file: ResultFile, anchor: string): void {
  const { title, option } = picture;
  const drawn = option === null ? null : chartParts(picture, option);
  const makeTable = () => tableView(picture.table(), `Table: ${title}, ${anchor}`);
  const name = `${file.name.replace(/\.json$/, "").replace(/[^\w.-]+/g, "_")}-${picture.id}`;
  const save = (kind: string, make: () => Blob | Promise<Blob>) => {
    const act = button(kind, () => {
      void Promise.resolve(make()).then((saved) =>
        download(`${name}.${kind.toLowerCase()}`, saved),
      );
    });
    act.setAttribute("aria-label", `Save ${kind}: ${title}`);
    return act;
  };
  const link = el("a", { href: `#${anchor}`, "aria-label": `Link: ${title}` }, "Link");
  const caption = captionOf(title, file);
  card.append(
    ...(drawn === null ? [makeTable()] : drawn.parts),
    el(
      "div",
      { class: "actions" },
      drawn === null ? null : folded(`Table (${picture.rows} rows)`, makeTable),
      notDrawnOf(picture.notDrawn),
      drawn === null ? null : save("PNG", () => pngOf(drawn.svg(caption))),
      drawn === null
        ? null
        : save("SVG", () => new Blob([drawn.svg(caption)], { type: "image/svg+xml" })),
      save("CSV", () => new Blob([csvOf(picture.table())], { type: "text/csv" })),
      link,
    ),
  );
}

export function card(
  picture: Picture,
  file: ResultFile,
  anchor: string,
  open: boolean,
): HTMLElement {
  const details = el(
    "details",
    { class: "card", id: anchor, "data-picture": picture.id },
    el("summary", {}, el("h3", {}, picture.title)),
  );
  const unfold = () => {
    if (details.open && details.childElementCount === 1) fill(details, picture, file, anchor);
  };
  details.addEventListener("toggle", unfold);
  details.open = open;
  unfold();
  return details;
}
