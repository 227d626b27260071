// A chart on the page: drawn when it comes into sight, again when the size or the colours change,
// and before printing.
import type { EChartsCoreOption } from "echarts/core";
import { belowLegend } from "../pictures/chart";
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
    const width = this.drawnWidth / (projector.matches ? projected : 1);
    const { option, extra } = belowLegend(
      this.option(palette(), this.drawnWidth < narrowWidth),
      width,
    );
    this.setHeight(extra);
    this.chart.resize();
    const shown = projector.matches ? (enlarged(option) as EChartsCoreOption) : option;
    this.chart.setOption(shown, { notMerge: true });
  }

  private setHeight(extra = 0): void {
    this.element.style.height = `${(this.height + extra) * (projector.matches ? projected : 1)}px`;
  }

  /** As PNG, twice as fine as a screen, below the lines of the caption, the first one bold. */
  png(caption: string[]): Promise<Blob> {
    return captioned(this.draw().renderToCanvas({ pixelRatio: 2 }), caption, palette());
  }
}

function captioned(chart: HTMLCanvasElement, caption: string[], colours: Palette): Promise<Blob> {
  const [lineHeight, margin] = [40, 16];
  const canvas = el("canvas", {
    width: String(chart.width),
    height: String(chart.height + margin + lineHeight * caption.length),
  });
  const context = canvas.getContext("2d")!;
  context.fillStyle = colours.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colours.text;
  caption.forEach((line, index) => {
    context.font = `${index === 0 ? "bold 30" : "26"}px system-ui, sans-serif`;
    context.fillText(line, margin, lineHeight * (index + 1), canvas.width - 2 * margin);
  });
  context.drawImage(chart, 0, canvas.height - chart.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((png) => (png === null ? reject(new Error("no PNG")) : resolve(png))),
  );
}
