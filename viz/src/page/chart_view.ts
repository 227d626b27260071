// SPDX-License-Identifier: Apache-2.0
// A chart on the page: drawn when it comes into sight, again when the size or the colours change,
// and before printing.
import { belowLegend } from "../pictures/chart";
import type { ChartOption, Point } from "../pictures/option";
import type { Palette } from "../pictures/palette";
import type { Told } from "../pictures/tooltip";
import { el } from "./dom";
import { init, type EChartsType } from "./echarts";
import { onTheme, palette } from "./theme";

const waiting = new Map<Element, ChartView>();

const inSight = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) waiting.get(entry.target)?.draw();
  },
  { rootMargin: "300px" },
);
addEventListener("beforeprint", () => {
  for (const chart of waiting.values()) chart.draw();
});

/** Where in the option a point with figures stands. */
interface Place {
  seriesIndex: number;
  dataIndex: number;
  told: Told;
}

function placesOf(series: ChartOption["series"]): Place[] {
  return series.flatMap(({ data }, seriesIndex) =>
    (data as (Point | unknown[])[]).flatMap((point, dataIndex) =>
      "told" in point ? [{ seriesIndex, dataIndex, told: point.told }] : [],
    ),
  );
}

export class ChartView {
  readonly element: HTMLElement;
  /** Of the point that the reader clicked, or went to by keys. */
  readonly figures = el("p", { class: "figures", role: "status" });
  private chart: EChartsType | null = null;
  private places: Place[] = [];
  private here: Place | undefined;
  private drawnWidth = 0;

  constructor(
    private readonly option: (palette: Palette, width: number) => ChartOption,
    label: string,
    private readonly height: (width: number) => number,
  ) {
    this.element = el("div", { class: "chart", role: "img", tabindex: "0", "aria-label": label });
    this.setHeight(innerWidth);
    this.element.addEventListener("keydown", (event) => this.followKey(event));
    waiting.set(this.element, this);
    inSight.observe(this.element);
    onTheme(() => this.redraw());
    new ResizeObserver(() => {
      if (this.chart !== null && this.element.clientWidth !== this.drawnWidth) this.redraw();
    }).observe(this.element);
  }

  /** Draws it if it is not drawn yet. */
  draw(): EChartsType {
    inSight.unobserve(this.element);
    waiting.delete(this.element);
    if (this.chart === null) {
      this.chart = init(this.element, null, { renderer: "svg" });
      this.redraw();
      this.element.dataset["drawn"] = "yes";
      this.chart.on("click", ({ seriesIndex, dataIndex }) => {
        this.goTo(
          this.places.find(
            (each) => each.seriesIndex === seriesIndex && each.dataIndex === dataIndex,
          ),
        );
      });
      if (!performance.getEntriesByName("first-chart").length) performance.mark("first-chart");
    }
    return this.chart;
  }

  redraw(): void {
    if (this.chart === null) return;
    this.drawnWidth = this.element.clientWidth;
    const whole = this.option(palette(), this.drawnWidth);
    const { option, extra } = belowLegend(whole, this.drawnWidth);
    this.places = placesOf(option.series);
    this.goTo(undefined);
    this.setHeight(this.drawnWidth, extra);
    this.chart.resize();
    this.chart.setOption(option, { notMerge: true });
  }

  /** Right and left go from point to point, Escape leaves them. */
  private followKey(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1, Escape: 0 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.draw();
    // The parts of a stacked bar tell the same row.
    const tells = ({ told }: Place) => JSON.stringify(told);
    const stops = [...new Map(this.places.map((each) => [tells(each), each])).values()];
    const { here } = this;
    const from = here === undefined ? -1 : stops.findIndex((each) => tells(each) === tells(here));
    const next = (Math.max(from, by < 0 ? 0 : -1) + by + stops.length) % stops.length;
    this.goTo(by === 0 ? undefined : stops[next]);
  }

  private goTo(place: Place | undefined): void {
    this.here = place;
    this.figures.textContent =
      place === undefined
        ? ""
        : `${place.told.head}: ${place.told.lines.map((line) => line.join(" ")).join(", ")}`;
    if (place === undefined) this.chart?.dispatchAction({ type: "hideTip" });
    else this.chart?.dispatchAction({ type: "showTip", ...place });
  }

  private setHeight(width: number, extra = 0): void {
    this.element.style.height = `${this.height(width) + extra}px`;
  }
}
