import { median } from "./load.ts";

/** Prints one line per figure, with its baseline. */
export function report(
  name: string,
  figure: string,
  against?: { readonly ratio: number; readonly target: number; readonly of?: string } | undefined,
): void {
  const held =
    against === undefined
      ? ""
      : `  ${against.ratio.toFixed(against.target < 0.1 ? 3 : 2)} of ${against.of ?? "the echo"} (target ${against.target})`;
  console.log(`${name.padEnd(52)} ${figure.padStart(24)}${held}`);
}

export const rate = (perSecond: number): string =>
  `${Math.round(perSecond).toLocaleString("en")} /s`;

export const ratio = (value: number): string => value.toFixed(2);

/**
 * The median of some turns with the least and the greatest of them; `target`: the required ratio.
 */
export function overTurns(
  values: readonly number[],
  show: (value: number) => string,
  { of = "", target }: { readonly of?: string; readonly target: number },
): string {
  const range = `${show(Math.min(...values))} to ${show(Math.max(...values))}`;
  return `${show(median(values))}${of} (${range}; target ${target.toLocaleString("en")})`;
}
