// SPDX-License-Identifier: Apache-2.0
// A picture as a card: its sentence, which stays when the card is folded; chart, table, downloads; and in a
// line proof, machine and command, which open to all of it.
import { machineOf, type ResultFile } from "../data/results";
import { csvOf, type Table } from "../data/table";
import { noRoom } from "../pictures/choice";
import { isMissing, notDrawnOf, readingOf, type Missing, type Picture } from "../pictures/picture";
import { captionOf } from "./caption";
import { ChartView } from "./chart_view";
import { chooser, viewChooser } from "./controls";
import { button, download, el } from "./dom";
import { keep, kept } from "./kept";
import { ofThisPage } from "./lifetime";
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

/** Tells all pictures of a file that the reader wants to see another row. */
const rowAdded = "row-added";

/** What is not drawn, and where there may be more rows a list to choose from. */
class NotDrawn {
  readonly element = el("details", { class: "not-drawn" }, el("summary"));
  private names: string[] = [];

  constructor(
    private readonly file: ResultFile,
    private readonly extensible: boolean,
  ) {
    this.element.addEventListener("toggle", () => this.offer());
  }

  show(left: [string, string][]): void {
    this.names = left.flatMap(([row, reason]) => (reason === noRoom ? [row] : []));
    this.element.hidden = left.length === 0;
    const summary = this.element.querySelector("summary")!;
    summary.textContent = `Not in the picture (${left.length})`;
    this.element.replaceChildren(summary, reasonsOf(left));
    this.offer();
  }

  /** Made when it is seen: there may be thousands. */
  private offer(): void {
    const { element, names, file } = this;
    if (!element.open || !this.extensible || names.length === 0 || element.querySelector("select"))
      return;
    element.append(
      chooser("Draw another row", ["choose one", ...names], 0, (index) => {
        file.added.add(names[index - 1]!);
        document.dispatchEvent(new CustomEvent(rowAdded, { detail: file }));
        element.querySelector("summary")?.focus();
      }),
    );
  }
}

/** In a line what the numbers rest on, and below it all of that. */
function sourceOf(picture: Picture, file: ResultFile): HTMLElement {
  const line = [picture.verification, machineOf(file)].map((part) => el("span", {}, part));
  return el(
    "details",
    { class: "source" },
    el("summary", {}, ...line, el("code", {}, file.command)),
    el("p", { class: "proof" }, picture.verification),
    provenance(file),
  );
}

interface How {
  /** One of "h2" is a card of the page itself, and cannot be folded. */
  heading?: "h2" | "h3";
  /** Whether it is unfolded at first. */
  open?: boolean;
  /** Makes the picture again, with the rows that the reader has added; none can be without it. */
  remake?: () => Picture | Missing | undefined;
}

/** The picture with the view that is chosen. */
interface Shown {
  picture: Picture;
  view: number;
}

/** What stands below the sentence. `change` is called when another view is chosen. */
function fill(
  card: HTMLElement,
  shown: Shown,
  file: ResultFile,
  anchor: string,
  remake: How["remake"],
  change: () => void,
): void {
  const { picture: first } = shown;
  const label = () =>
    `${first.title}. ${readingOf(shown.picture, shown.view)} ${shown.picture.alternative}`;
  const chart = new ChartView(
    (palette, narrow) => shown.picture.option(palette, narrow, shown.view),
    label(),
    first.height ?? usualHeight,
  );
  const notDrawn = new NotDrawn(file, remake !== undefined);
  notDrawn.show(notDrawnOf(first, shown.view));
  const refresh = () => {
    change();
    chart.element.setAttribute("aria-label", label());
    notDrawn.show(notDrawnOf(shown.picture, shown.view));
    chart.redraw();
  };
  const takeRow = (event: Event) => {
    const anew = event instanceof CustomEvent && event.detail === file ? remake?.() : undefined;
    if (anew === undefined || isMissing(anew)) return;
    shown.picture = anew;
    refresh();
  };
  document.addEventListener(rowAdded, takeRow, { signal: ofThisPage() });
  const { questions, views } = viewsOf(first);
  const choosers = viewChooser(questions, views, shown.view, (view) => {
    shown.view = view;
    keep(`${anchor} view`, views[view]!.join());
    refresh();
  });
  const table = (title: string, of: () => Table) =>
    folded(`${title} (${of().rows.length} rows)`, () =>
      tableView(of(), `${title}: ${first.title}, ${anchor}`),
    );
  const name = `${file.name.replace(/\.json$/, "").replace(/[^\w.-]+/g, "_")}-${first.id}`;
  const savePng = () =>
    void chart.png(captionOf(first.title, file)).then((png) => download(`${name}.png`, png));
  const saveCsv = () =>
    download(`${name}.csv`, new Blob([csvOf(shown.picture.table)], { type: "text/csv" }));
  const actions: [string, HTMLElement][] = [
    ["Save PNG", button("PNG", savePng)],
    ["Save CSV", button("CSV", saveCsv)],
    ["Link", el("a", { href: `#${anchor}` }, "Link")],
  ];
  for (const [name, action] of actions)
    action.setAttribute("aria-label", `${name}: ${first.title}`);
  card.append(
    ...(choosers.length > 0 ? [el("div", { class: "views" }, ...choosers)] : []),
    ...(first.zooms ? [chart.zoomButtons()] : []),
    chart.element,
    chart.figures,
    el(
      "div",
      { class: "actions" },
      table("Table", () => shown.picture.table),
      ...(first.more ?? []).map(([title, more]) => table(title, () => more)),
      notDrawn.element,
      ...actions.map(([, action]) => action),
    ),
    sourceOf(first, file),
  );
}

const viewsOf = ({ variants = [], answers }: Picture) =>
  answers === undefined
    ? { questions: ["What is shown"], views: variants.map((each) => [each]) }
    : { questions: answers.questions, views: answers.of };

export function card(
  picture: Picture,
  file: ResultFile,
  anchor: string,
  { heading = "h3", open = true, remake }: How = {},
): HTMLElement {
  const { views } = viewsOf(picture);
  const before = views.findIndex((each) => each.join() === kept(`${anchor} view`));
  const shown: Shown = { picture, view: Math.max(0, before) };
  const titleId = `${anchor}-title`;
  const title = el(heading, { id: titleId }, picture.title);
  const reading = el(heading === "h2" ? "p" : "span", { class: "reading" });
  const headline = el("p", { class: "headline" });
  const change = () => {
    const told = readingOf(shown.picture, shown.view);
    if (heading === "h2") reading.replaceChildren(el("strong", {}, "Where the time goes: "), told);
    else reading.textContent = told;
    const said = shown.picture.headline?.(shown.view) ?? "";
    headline.replaceChildren(el("strong", {}, "When a GPU pays: "), said);
    headline.hidden = said === "";
  };
  change();
  const named = { class: "card", id: anchor, "data-picture": picture.id };
  if (heading === "h2") {
    const section = el(
      "section",
      { ...named, "aria-labelledby": titleId },
      title,
      headline,
      reading,
    );
    fill(section, shown, file, anchor, remake, change);
    return section;
  }
  const details = el("details", named, el("summary", {}, title, reading));
  const unfold = () => {
    if (details.childElementCount === 1) fill(details, shown, file, anchor, remake, change);
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
