// SPDX-License-Identifier: Apache-2.0
// The parts of ECharts that the pictures use; the rest stays out of the page.
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomInsideComponent,
  GridComponent,
  LegendPlainComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { LabelLayout } from "echarts/features";
import { init, use, type EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([
  BarChart,
  CanvasRenderer,
  CustomChart,
  DataZoomInsideComponent,
  GridComponent,
  LabelLayout,
  LegendPlainComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  ScatterChart,
  TooltipComponent,
]);

export { init, type EChartsType };
