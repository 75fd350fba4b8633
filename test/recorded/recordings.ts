/** Recorded requests to DataHub in the order of sending, with their responses. */
import { readFileSync } from "node:fs";

export interface Recording {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: { readonly status: number; readonly body: unknown };
}

export const recordings: readonly Recording[] = readFileSync(
  new URL("../data/recorded.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
