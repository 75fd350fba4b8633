/** Figures of a bench, and their text in a terminal and on the page of benchmarks. */
import { median } from "./load.ts";

/** Rates are per second; `MB` are 10^6 bytes. */
export type Unit = "/s" | "ms" | "us" | "MB" | "B";

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
  /** The value divided by a baseline of the same run. */
  readonly ratio?: { readonly value: number; readonly of: string } | undefined;
  /** Of the ratio, or else of the value: at least for rates, at most for times and sizes. */
  readonly goal?: number | undefined;
  readonly note?: string | undefined;
  /** Records in the log, where the bench measures several sizes. */
  readonly size?: number | undefined;
}

export type Figures = AsyncGenerator<Figure>;

export const formatNumber = (value: number): string =>
  value.toLocaleString("en", { maximumSignificantDigits: value < 1_000 ? 3 : 21 });

/** `1,234 /s`; whole numbers from 100 on. */
export const formatValue = ({ value, unit }: Pick<Figure, "value" | "unit">): string =>
  `${formatNumber(value < 100 ? value : Math.round(value))} ${unit === "us" ? "µs" : unit}`;

export const formatRatio = ({ value, of }: NonNullable<Figure["ratio"]>): string =>
  `${value.toFixed(2)} of ${of}`;

/** Empty without a goal. */
export function formatGoal({ unit, ratio, goal }: Figure): string {
  if (goal === undefined) return "";
  const bound = unit === "/s" ? "at least" : "at most";
  return `${bound} ${ratio === undefined ? formatValue({ value: goal, unit }) : goal}`;
}

/** One line for a terminal. */
export function formatLine(figure: Figure): string {
  const { name, size, ratio, note } = figure;
  const at = size === undefined ? "" : `, ${formatNumber(size)} records`;
  const more = [ratio && formatRatio(ratio), formatGoal(figure), note].filter(Boolean);
  return `${`${name}${at}`.padEnd(64)} ${formatValue(figure).padStart(14)}  ${more.join("; ")}`;
}

/** A duration: the median of some calls, after one that warms up. */
export async function medianMs(work: () => Promise<unknown>, calls = 5): Promise<number> {
  await work();
  const times: number[] = [];
  while (times.length < calls) times.push(await milliseconds(work));
  return median(times);
}

export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
