// A picture as a card: sentence, chart, downloads, table, proof and provenance.
import type { ResultFile } from "../data/results";
import { csvOf } from "../data/table";
import { isMissing, notDrawnOf, readingOf, type Missing, type Picture } from "../pictures/picture";
import { noRoom } from "../pictures/choice";
import { captionOf } from "./caption";
import { ChartView } from "./chart_view";
import { chooser } from "./controls";
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

function notDrawnList(notDrawn: [string, string][]): HTMLDetailsElement | null {
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

/** Tells all pictures of a file that the reader wants to see another row. */
const rowAdded = "row-added";

interface How {
  heading?: "h2" | "h3";
  /** Makes the picture again, with the rows that the reader has added; none can be without it. */
  remake?: () => Picture | Missing | undefined;
}

export function card(
  made: Picture | Missing,
  file: ResultFile,
  anchor: string,
  { heading = "h3", remake }: How = {},
): HTMLElement {
  const titleId = `${anchor}-title`;
  const section = el(
    "section",
    { class: "card", id: anchor, "aria-labelledby": titleId, "data-picture": made.id },
    el(heading, { id: titleId }, made.title),
  );
  if (isMissing(made)) {
    section.classList.add("missing");
    section.append(el("p", {}, `Not drawn: ${made.missing}.`));
    return section;
  }
  let picture = made;
  let variant = 0;
  const label = () => `${picture.title}. ${readingOf(picture, variant)} ${picture.alternative}`;
  const chart = new ChartView(
    (palette, narrow) => picture.option(palette, narrow, variant),
    label(),
    picture.height ?? usualHeight,
  );
  const notDrawn = el("div", {});
  const listNotDrawn = () => {
    const left = notDrawnOf(picture, variant);
    const list = notDrawnList(left);
    const names = left.flatMap(([row, reason]) => (reason === noRoom ? [row] : []));
    const offer = () =>
      chooser("Draw another row", ["choose one", ...names], 0, (index) => {
        file.added.add(names[index - 1]!);
        document.dispatchEvent(new CustomEvent(rowAdded, { detail: file }));
        notDrawn.querySelector("summary")?.focus();
      });
    if (remake !== undefined && names.length > 0)
      // made when it is seen: there may be thousands
      list?.addEventListener("toggle", () => list.querySelector("select") ?? list.append(offer()));
    if (list !== null) list.open = notDrawn.querySelector("details")?.open === true;
    notDrawn.replaceChildren(...(list === null ? [] : [list]));
    notDrawn.hidden = list === null;
  };
  listNotDrawn();
  const reading = el("p", { class: "reading" }, readingOf(picture, variant));
  const refresh = () => {
    reading.textContent = readingOf(picture, variant);
    chart.element.setAttribute("aria-label", label());
    listNotDrawn();
    chart.redraw();
  };
  document.addEventListener(rowAdded, (event) => {
    const anew = event instanceof CustomEvent && event.detail === file ? remake?.() : undefined;
    if (anew === undefined || isMissing(anew)) return;
    picture = anew;
    refresh();
  });
  const name = `${file.name.replace(/\.json$/, "").replace(/[^\w.-]+/g, "_")}-${picture.id}`;
  section.append(
    reading,
    ...(picture.variants && picture.variants.length > 1
      ? [
          variantChooser(picture.variants, (index) => {
            variant = index;
            refresh();
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
