// SPDX-License-Identifier: Apache-2.0
// The what-if panel: sliders, and beside them what the recorded profile of a machine predicts.
import { addressOf, anchor, askedIn } from "../data/address";
import { figuresOf } from "../data/assumed";
import type { ResultFile } from "../data/results";
import {
  columnsOf,
  comparable,
  measuredRuns,
  type Predicted,
  predictAll,
  profilesOf,
  sentence,
  type Setting,
} from "../data/scenario";
import { csvOf, type Table, tableOf } from "../data/table";
import { bars, crossover } from "../pictures/whatif";
import { ChartView } from "./chart_view";
import { button, download, el } from "./dom";
import { ofThisPage, whenGone } from "./lifetime";
import { tableView } from "./table_view";
import { choosersOf, offered, slidersOf, usualSetting, withAsked } from "./whatif_controls";

const chartHeight = matchMedia("(max-width: 600px)").matches ? 240 : 360;

const noProfile = () =>
  el(
    "p",
    {},
    "This page has no profile of a machine, so nothing is predicted. ",
    el("code", {}, "diffbench calibrate --out profile.json"),
    " records one; name it with the other files of ",
    el("code", {}, "diffbench report"),
    ".",
  );

/** What stands round the charts, and follows the sliders with them. */
function textsOf(setting: Setting, all: Predicted[]): { source: string; left: string } {
  const { card, every, roundTrips } = setting;
  const { source, machine, date, transfer } = setting.profile;
  const hidden = all.length - comparable(all).length;
  return {
    source:
      `Profile ${source}: ${machine}, ${date}, copies ${transfer}. A warm run is all copies and the steps; the model is that of diffbench advise.` +
      (every > 0 && roundTrips ? " A field on the CPU makes no round trips." : "") +
      (card === null
        ? ""
        : ` ${card.name}: assumed from public figures, not measured; bars are at the middle of the assumed range, whiskers go from its best to its worst end.`),
    left:
      hidden > 0
        ? `${hidden} backend${hidden === 1 ? "" : "s"} more than 30 times as slow: in the table only.`
        : "",
  };
}

/** Filled while it is open, and again with each change. */
function foldedTable(title: string, tableNow: () => Table) {
  const element = el("details", {}, el("summary", {}, title));
  const fill = () => {
    if (element.open)
      element.replaceChildren(element.firstElementChild!, tableView(tableNow(), title));
  };
  element.addEventListener("toggle", fill);
  return { element, fill };
}

/** The address follows the sliders once they rest: browsers allow few changes of it a second. */
function keepInAddress(setting: () => Setting): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => history.replaceState(null, "", addressOf(setting())), 250);
  };
}

/** Redraws what is in sight, once a frame at most; the rest when it comes into sight, or on paper. */
function redrawer(charts: ChartView[]): () => void {
  const stale = new Set<ChartView>();
  const seen = new Set<Element>();
  let frame = 0;
  const redraw = (each: ChartView) => {
    stale.delete(each);
    each.redraw();
  };
  const redrawSeen = () => [...stale].filter(({ element }) => seen.has(element)).forEach(redraw);
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) seen.add(target);
      else seen.delete(target);
    redrawSeen();
  });
  for (const { element } of charts) observer.observe(element);
  addEventListener("beforeprint", () => [...stale].forEach(redraw), { signal: ofThisPage() });
  whenGone(() => observer.disconnect());
  return () => {
    for (const chart of charts) stale.add(chart);
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(redrawSeen);
  };
}

export function whatIf(files: ResultFile[]): HTMLElement {
  const section = el(
    "section",
    { class: "card", id: anchor, "aria-labelledby": "what-if-title" },
    el("h2", { id: "what-if-title" }, "What if?"),
  );
  const profiles = profilesOf(files);
  if (profiles.length === 0) {
    section.append(noProfile());
    return section;
  }
  let setting = usualSetting(profiles[0]!);
  let all: Predicted[] = [];

  const told = el("p", { class: "reading", role: "status" });
  const choosers = el("div", { class: "controls" });
  const sliders = el("div", { class: "controls sliders" });
  const source = el("p", { class: "provenance" });
  const left = el("p", { class: "muted" });
  const tableNow = () => tableOf(columnsOf(all), all);
  const table = foldedTable("Table of the predictions", tableNow);
  const assumed = foldedTable("The assumed figures and their sources", () =>
    figuresOf(setting.card),
  );
  const charts = [
    new ChartView(
      (palette, narrow) => bars(all, palette, narrow),
      "Predicted warm runs as bars, divided into copies and steps. The table has the numbers.",
      chartHeight,
    ),
    new ChartView(
      (palette, narrow) => crossover(setting, measuredRuns(files, setting), palette, narrow),
      "Predicted warm runs against the grid, dashed, and measured ones as points. The table has the numbers.",
      chartHeight,
    ),
  ];

  function tell(): void {
    all = predictAll(setting);
    told.textContent = sentence(setting, all);
    section.classList.toggle("extrapolated", (all[0]?.run.beyond.length ?? 0) > 0);
    const texts = textsOf(setting, all);
    source.textContent = texts.source;
    left.textContent = texts.left;
    assumed.element.hidden = setting.card === null;
    table.fill();
    assumed.fill();
  }
  const redraw = redrawer(charts);
  const keep = keepInAddress(() => setting);
  function change(part: Partial<Setting>): void {
    setting = offered({ ...setting, ...part });
    if (part.profile !== undefined) fillControls();
    tell();
    redraw();
    keep();
  }
  function fillControls(): void {
    choosers.replaceChildren(...choosersOf(profiles, setting, change));
    sliders.replaceChildren(...slidersOf(setting, change));
  }
  /** True if the address is one of this panel. */
  function readAddress(): boolean {
    const asked = askedIn(location.hash);
    if (asked !== null) setting = withAsked(profiles, setting, asked);
    return asked !== null;
  }

  const hint = "Hollow and dashed: predicted. Solid: measured, from the files of this page.";
  const save = button("Save CSV", () =>
    download("what-if.csv", new Blob([csvOf(tableNow())], { type: "text/csv" })),
  );
  const asked = readAddress();
  fillControls();
  tell();
  section.append(
    told,
    choosers,
    sliders,
    el("p", { class: "muted" }, hint),
    el(
      "div",
      { class: "charts" },
      ...charts.map(({ element, figures }) => el("div", {}, element, figures)),
    ),
    left,
    el("div", { class: "actions" }, save),
    table.element,
    assumed.element,
    source,
  );
  // The fragment with a setting is no element's name, so the browser does not go there by itself;
  // after a reload it does go to where the reader was.
  const goThere = () => section.scrollIntoView({ behavior: "instant" });
  const [navigation] = performance.getEntriesByType("navigation");
  if (asked && (navigation as PerformanceNavigationTiming | undefined)?.type !== "reload")
    requestAnimationFrame(goThere);
  const followAddress = () => {
    if (!readAddress()) return;
    fillControls();
    tell();
    redraw();
    keep();
    goThere();
  };
  addEventListener("hashchange", followAddress, { signal: ofThisPage() });
  return section;
}
