/** The latest results of this browser, newest first. */

export interface Run {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly query: string;
  readonly variables: string;
  /** As shown. */
  readonly result: string;
  readonly failed: boolean;
}

const name = "annals.graphql";
const runsMax = 20;
/** Longer results are not kept: storage of a page is small. */
const resultCharactersMax = 50_000;

export function storedRuns(): readonly Run[] {
  try {
    const runs: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(runs) ? runs.filter(isRun) : [];
  } catch {
    return [];
  }
}

const isRun = (value: unknown): value is Run => {
  const run = value as Partial<Run> | null;
  const texts = [run?.query, run?.variables, run?.result];
  return typeof run?.at === "number" && texts.every((text) => typeof text === "string");
};

/** Adds a run; an earlier one of the same query and variables moves to the front. */
export function withRun(runs: readonly Run[], run: Run): readonly Run[] {
  const others = runs.filter(
    ({ query, variables }) => query !== run.query || variables !== run.variables,
  );
  const result =
    run.result.length > resultCharactersMax ? run.result.slice(0, resultCharactersMax) : run.result;
  const next = [{ ...run, result }, ...others].slice(0, runsMax);
  try {
    localStorage.setItem(name, JSON.stringify(next));
  } catch {
    // Without storage, the history ends with the page.
  }
  return next;
}

/** A line that names the query: its own name, or its beginning. */
export function titleOf({ query }: Pick<Run, "query">): string {
  const lines = query.split("\n").filter((line) => !line.trim().startsWith("#"));
  return lines.join(" ").replace(/\s+/g, " ").trim().slice(0, 80) || "Empty query";
}
