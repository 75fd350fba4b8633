/** Terminal settings from the environment, in addition to those of the terminal itself. */
import type { Environment } from "./config.ts";

/** Columns of the terminal from `COLUMNS`; undefined where it is not set. */
export function columnsOf({ COLUMNS = "" }: Environment = process.env): number | undefined {
  return /^\d{1,4}$/.test(COLUMNS) && Number(COLUMNS) > 0 ? Number(COLUMNS) : undefined;
}

/** https://no-color.org: any value but an empty one turns colors off. */
export const isColorOff = ({ NO_COLOR = "" }: Environment = process.env): boolean =>
  NO_COLOR !== "";
