// SPDX-License-Identifier: Apache-2.0
// A chart on the page: drawn when it comes into sight, again when the size or the colours change,
// and before printing.
import { belowLegend } from "../pictures/chart";
import type { ChartOption, Point } from "../pictures/option";
import type { Palette } from "../pictures/palette";
import type { Told } from "../pictures/tooltip";
import { captioned } from "./caption";
import { button, el } from "./dom";
import { init, type EChartsType } from "./echarts";
import { whenGone } from "./lifetime";
import { onTheme, palette } from "./theme";

const narrowWidth = 500;
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
  /** Of the axis that can be zoomed, in percent. */
  private inView: [number, number] = [0, 100];

  constructor(
    private readonly option: (palette: Palette, narrow: boolean) => ChartOption,
    label: string,
    private readonly height: number,
  ) {
    this.element = el("div", { class: "chart", role: "img", tabindex: "0", "aria-label": label });
    this.setHeight();
    this.element.addEventListener("keydown", (event) => this.followKey(event));
    waiting.set(this.element, this);
    inSight.observe(this.element);
    onTheme(() => this.redraw());
    const resized = new ResizeObserver(() => {
      if (this.chart !== null && this.element.clientWidth !== this.drawnWidth) this.redraw();
    });
    resized.observe(this.element);
    whenGone(() => {
      resized.disconnect();
      inSight.unobserve(this.element);
      waiting.delete(this.element);
      this.chart?.dispose();
      this.chart = null;
    });
  }

  /** Draws it if it is not drawn yet. */
  draw(): EChartsType {
    inSight.unobserve(this.element);
    waiting.delete(this.element);
    if (this.chart === null) {
      this.chart = init(this.element);
      this.redraw();
      this.element.dataset["drawn"] = "yes";
      this.chart.on("datazoom", () => this.followZoom());
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
    const whole = this.option(palette(), this.drawnWidth < narrowWidth);
    const { option, extra } = belowLegend(whole, this.drawnWidth);
    this.places = placesOf(option.series);
    this.goTo(undefined);
    this.inView = [0, 100];
    this.setHeight(extra);
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

  /** For the keyboard, and for all who do not know of Ctrl and the wheel. */
  zoomButtons(): HTMLElement {
    const act = (factor: number, shift: number) => () => {
      const chart = this.draw();
      const [start, end] = this.inView;
      const length = Math.min(100, Math.max(0.1, factor * (end - start)));
      const middle = (start + end) / 2 + shift * length;
      const from = Math.min(100 - length, Math.max(0, middle - length / 2));
      this.inView = [from, from + length];
      chart.dispatchAction({ type: "dataZoom", start: from, end: from + length });
    };
    return el(
      "div",
      { class: "zoom", role: "group", "aria-label": "Part of the axis" },
      button("Zoom in", act(0.5, 0)),
      button("Zoom out", act(2, 0)),
      button("Earlier", act(1, -0.5)),
      button("Later", act(1, 0.5)),
    );
  }

  /** By the wheel or by two fingers. */
  private followZoom(): void {
    const { dataZoom } = this.chart?.getOption() as { dataZoom?: { start: number; end: number }[] };
    const [zoom] = dataZoom ?? [];
    if (zoom !== undefined) this.inView = [zoom.start, zoom.end];
  }

  private setHeight(extra = 0): void {
    this.element.style.height = `${this.height + extra}px`;
  }

  /** As PNG, twice as fine as a screen, below the lines of the caption, the first one bold. */
  png(caption: string[]): Promise<Blob> {
    return captioned(this.draw().renderToCanvas({ pixelRatio: 2 }), caption, palette());
  }
}
