// A chart on the page: drawn when it comes into sight, again when the size or the colours change,
// and before printing.
import type { EChartsCoreOption } from "echarts/core";
import { type Palette } from "../pictures/palette";
import { el } from "./dom";
import { init, type EChartsType } from "./echarts";
import { onTheme, palette } from "./theme";

const narrowWidth = 560;
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

export class ChartView {
  readonly element: HTMLElement;
  private chart: EChartsType | null = null;
  private drawnWidth = 0;

  constructor(
    private readonly option: (palette: Palette, narrow: boolean) => EChartsCoreOption,
    label: string,
    height: number,
  ) {
    this.element = el("div", { class: "chart", role: "img", "aria-label": label });
    this.element.style.height = `${height}px`;
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
      this.chart = init(this.element);
      this.redraw();
      this.element.dataset["drawn"] = "yes";
      if (!performance.getEntriesByName("first-chart").length) performance.mark("first-chart");
    }
    return this.chart;
  }

  redraw(): void {
    if (this.chart === null) return;
    this.drawnWidth = this.element.clientWidth;
    this.chart.resize();
    this.chart.setOption(this.option(palette(), this.drawnWidth < narrowWidth), { notMerge: true });
  }

  /** As PNG, twice as fine as a screen. */
  async png(): Promise<Blob> {
    const source = this.draw().getDataURL({ type: "png", pixelRatio: 2 });
    const bytes = Uint8Array.from(atob(source.slice(source.indexOf(",") + 1)), (character) =>
      character.charCodeAt(0),
    );
    return new Blob([bytes], { type: "image/png" });
  }
}
