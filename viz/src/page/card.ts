// A picture as a card: sentence, chart, downloads, table, proof and provenance.
import type { ResultFile } from "../data/results";
import { csvOf } from "../data/table";
import { isMissing, type Missing, type Picture } from "../pictures/picture";
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

function notDrawnList(picture: Picture): HTMLElement | null {
  if (picture.notDrawn.length === 0) return null;
  const byReason = new Map<string, string[]>();
  for (const [name, reason] of picture.notDrawn)
    byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  return el(
    "details",
    { class: "not-drawn" },
    el("summary", {}, `Not in the picture (${picture.notDrawn.length})`),
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

export function card(picture: Picture | Missing, file: ResultFile, anchor: string): HTMLElement {
  const titleId = `${anchor}-title`;
  const section = el(
    "section",
    { class: "card", id: anchor, "aria-labelledby": titleId, "data-picture": picture.id },
    el("h3", { id: titleId }, picture.title),
  );
  if (isMissing(picture)) {
    section.classList.add("missing");
    section.append(el("p", {}, `Not drawn: ${picture.missing}.`));
    return section;
  }
  let variant = 0;
  const chart = new ChartView(
    (palette, narrow) => picture.option(palette, narrow, variant),
    `${picture.title}. ${picture.reading} ${picture.alternative}`,
    picture.height ?? usualHeight,
  );
  const name = `${file.name.replace(/\.json$/, "").replace(/[^\w.-]+/g, "_")}-${picture.id}`;
  section.append(
    el("p", { class: "reading" }, picture.reading),
    ...(picture.variants && picture.variants.length > 1
      ? [
          variantChooser(picture.variants, (index) => {
            variant = index;
            chart.redraw();
          }),
        ]
      : []),
    chart.element,
    el(
      "div",
      { class: "actions" },
      button("Save PNG", () => void chart.png().then((png) => download(`${name}.png`, png))),
      button("Save CSV", () =>
        download(`${name}.csv`, new Blob([csvOf(picture.table)], { type: "text/csv" })),
      ),
    ),
    folded(`Table (${picture.table.rows.length} rows)`, () =>
      tableView(picture.table, `Table: ${picture.title}`),
    ),
    ...[notDrawnList(picture)].filter((each) => each !== null),
    el("p", { class: "proof" }, picture.verification),
    provenance(file),
  );
  for (const action of section.querySelectorAll(".actions button"))
    action.setAttribute("aria-label", `${action.textContent}: ${picture.title}`);
  return section;
}
