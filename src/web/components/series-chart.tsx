/** A line of numbers over time. */
import { useEffect, useRef } from "react";
import Plot from "uplot";
import "uplot/dist/uPlot.min.css";

interface ChartProps {
  readonly label: string;
  /** Epoch seconds, ascending. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** Width of the axis with some labels, of which uPlot has none at first. */
const axisWidth = (_: Plot, labels: readonly string[] | null): number =>
  Math.max(56, ...(labels ?? []).map((label) => 16 + 7.5 * label.length));

export default function SeriesChart({ label, times, values }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = holder.current;
    if (parent === null) return;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--ink-3"), grid: { stroke: color("--line"), width: 1 } };
    const plot = new Plot(
      {
        width: parent.clientWidth || 300,
        height: 150,
        legend: { show: false },
        cursor: { y: false },
        axes: [axis, { ...axis, size: axisWidth }],
        series: [
          {},
          { label, stroke: color("--accent"), width: 2, points: { show: times.length < 40 } },
        ],
      },
      [[...times], [...values]],
      parent,
    );
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: parent.clientWidth, height: 150 }),
    );
    observer.observe(parent);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [label, times, values]);
  return <div ref={holder} role="img" aria-label={`Chart of ${label}`} className="chart" />;
}
