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

/** On a projector's screen the text of the page grows (style.css), and charts with it. */
const projector = matchMedia("(min-width: 1700px)");
const projected = 1.35;
/** Options in pixels; "width" is of lines and of names, the sides are margins. */
const pixels = new Set(
  "fontSize lineHeight nameGap symbolSize width barMaxWidth distance offset left right top bottom".split(
    " ",
  ),
);

function enlarged(option: unknown, isPixels = false): unknown {
  if (typeof option === "number") return isPixels ? projected * option : option;
  if (Array.isArray(option)) return option.map((each) => enlarged(each, isPixels));
  if (typeof option !== "object" || option === null) return option;
  return Object.fromEntries(
    Object.entries(option).map(([name, each]) => [name, enlarged(each, pixels.has(name))]),
  );
}

export class ChartView {
  readonly element: HTMLElement;
  private chart: EChartsType | null = null;
  private drawnWidth = 0;

  constructor(
    private readonly option: (palette: Palette, narrow: boolean) => EChartsCoreOption,
    label: string,
    private readonly height: number,
  ) {
    this.element = el("div", { class: "chart", role: "img", "aria-label": label });
    this.setHeight();
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
    this.setHeight();
    this.chart.resize();
    const option = this.option(palette(), this.drawnWidth < narrowWidth);
    const shown = projector.matches ? (enlarged(option) as EChartsCoreOption) : option;
    this.chart.setOption(shown, { notMerge: true });
  }

  private setHeight(): void {
    this.element.style.height = `${this.height * (projector.matches ? projected : 1)}px`;
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
