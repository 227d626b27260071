// A picture as a card: sentence, chart, downloads, table, proof and provenance.
import type { ResultFile } from "../data/results";
import { csvOf } from "../data/table";
import { isMissing, notDrawnOf, readingOf, type Missing, type Picture } from "../pictures/picture";
import { captionOf } from "./caption";
import { ChartView } from "./chart_view";
import { button, download, el } from "./dom";
import { provenance } from "./provenance";
import { tableView } from "./table_view";

const usualHeight = 380;

function variantChooser(names: string[], choose: (index: number) => void): HTMLElement {
  const buttons = names.map((name, index) =>
    button(name, () => {
      buttons.forEach((each, other) => each.setAttribute("aria-pressed", String(other === index)));
      choose(index);
    }),
  );
  buttons.forEach((each, index) => each.setAttribute("aria-pressed", String(index === 0)));
  return el("div", { class: "variants", role: "group", "aria-label": "What is shown" }, ...buttons);
}

/** Made only when it is opened: a page may have hundreds of large tables. */
function folded(title: string, make: () => Node): HTMLElement {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(make());
  });
  return details;
}

function notDrawnList(notDrawn: [string, string][]): HTMLElement | null {
  if (notDrawn.length === 0) return null;
  const byReason = new Map<string, string[]>();
  for (const [name, reason] of notDrawn) {
    const names = byReason.get(reason);
    if (names === undefined) byReason.set(reason, [name]);
    else names.push(name);
  }
  return el(
    "details",
    { class: "not-drawn" },
    el("summary", {}, `Not in the picture (${notDrawn.length})`),
    el(
      "ul",
      {},
      ...[...byReason].map(([reason, names]) => {
        const first = names.slice(0, 30).join("; ");
        const rest = names.length > 30 ? ` and ${names.length - 30} more` : "";
        return el("li", {}, el("strong", {}, first + rest), `: ${reason}`);
      }),
    ),
  );
}

export function card(
  picture: Picture | Missing,
  file: ResultFile,
  anchor: string,
  heading: "h2" | "h3" = "h3",
): HTMLElement {
  const titleId = `${anchor}-title`;
  const section = el(
    "section",
    { class: "card", id: anchor, "aria-labelledby": titleId, "data-picture": picture.id },
    el(heading, { id: titleId }, picture.title),
  );
  if (isMissing(picture)) {
    section.classList.add("missing");
    section.append(el("p", {}, `Not drawn: ${picture.missing}.`));
    return section;
  }
  let variant = 0;
  const label = () => `${picture.title}. ${readingOf(picture, variant)} ${picture.alternative}`;
  const chart = new ChartView(
    (palette, narrow) => picture.option(palette, narrow, variant),
    label(),
    picture.height ?? usualHeight,
  );
  const notDrawn = el("div", {});
  const listNotDrawn = () => {
    const list = notDrawnList(notDrawnOf(picture, variant));
    notDrawn.replaceChildren(...(list === null ? [] : [list]));
    notDrawn.hidden = list === null;
  };
  listNotDrawn();
  const reading = el("p", { class: "reading" }, readingOf(picture, variant));
  const name = `${file.name.replace(/\.json$/, "").replace(/[^\w.-]+/g, "_")}-${picture.id}`;
  section.append(
    reading,
    ...(picture.variants && picture.variants.length > 1
      ? [
          variantChooser(picture.variants, (index) => {
            variant = index;
            reading.textContent = readingOf(picture, variant);
            chart.element.setAttribute("aria-label", label());
            listNotDrawn();
            chart.redraw();
          }),
        ]
      : []),
    ...(picture.zooms ? [chart.zoomButtons()] : []),
    chart.element,
    el(
      "div",
      { class: "actions" },
      button(
        "Save PNG",
        () =>
          void chart
            .png(captionOf(picture.title, file))
            .then((png) => download(`${name}.png`, png)),
      ),
      button("Save CSV", () =>
        download(`${name}.csv`, new Blob([csvOf(picture.table)], { type: "text/csv" })),
      ),
    ),
    folded(`Table (${picture.table.rows.length} rows)`, () =>
      tableView(picture.table, `Table: ${picture.title}`),
    ),
    notDrawn,
    el("p", { class: "proof" }, picture.verification),
    provenance(file),
  );
  for (const action of section.querySelectorAll(".actions button"))
    action.setAttribute("aria-label", `${action.textContent}: ${picture.title}`);
  return section;
}
