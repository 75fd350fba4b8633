/** One line a figure, with what it is held against. */
export function report(
  name: string,
  figure: string,
  against?: { readonly ratio: number; readonly target: number; readonly of?: string } | undefined,
): void {
  const held =
    against === undefined
      ? ""
      : `  ${against.ratio.toFixed(2)} of ${against.of ?? "the echo"} (target ${against.target})`;
  console.log(`${name.padEnd(52)} ${figure.padStart(24)}${held}`);
}

export const rate = (perSecond: number): string =>
  `${Math.round(perSecond).toLocaleString("en")} /s`;
