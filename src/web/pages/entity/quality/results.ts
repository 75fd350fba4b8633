/** Results of assertions, and incidents, as the page shows them. */
import { type JsonObject, numberAt, textAt } from "../../../api/json.ts";
import { sentenceCase } from "../../../api/type-names.ts";
import { nameOfUrn } from "../../../api/urn.ts";
import type { Assessment } from "./events.ts";

export type RunState = "passed" | "failed" | "error" | "unknown";

/** The state that a run of an assertion leaves; a run that has not ended has none. */
export function stateOf(run: JsonObject | undefined): RunState {
  switch (textAt(run, "result", "type")) {
    case "SUCCESS":
      return "passed";
    case "FAILURE":
      return "failed";
    case "ERROR":
      return "error";
    default:
      return "unknown";
  }
}

/** The runs in words, for readers who do not see the strip. */
export function summaryOfRuns(runs: readonly JsonObject[]): string {
  const count = (state: RunState) => runs.filter((run) => stateOf(run) === state).length;
  const parts = (["passed", "failed", "error"] as const).flatMap((state) =>
    count(state) > 0 ? [`${count(state)} ${state === "error" ? "with an error" : state}`] : [],
  );
  return `Last ${runs.length} runs: ${parts.join(", ") || "no results"}`;
}

/** The members of an assertion that have its kind and native name, in the order of use. */
const kinds = [
  ["customAssertion", "type"],
  ["datasetAssertion", "nativeType"],
  ["datasetAssertion", "operator"],
] as const;

/** The description of an assertion, or else what it asserts. */
export function titleOfAssertion(info: unknown, urn: string): string {
  const description = textAt(info, "description");
  if (description !== undefined) return description;
  const kind = kinds.flatMap((path) => textAt(info, ...path) ?? [])[0] ?? textAt(info, "type");
  return kind === undefined ? nameOfUrn(urn) : `${sentenceCase(kind)} (${nameOfUrn(urn)})`;
}

/** Active incidents first, then the latest. */
export const sortedIncidents = (incidents: readonly Assessment[]): readonly Assessment[] =>
  incidents.toSorted(
    (a, b) => Number(isActive(b)) - Number(isActive(a)) || openedAt(b) - openedAt(a),
  );

export const infoOf = ({ aspects }: Assessment): JsonObject =>
  aspects.get("incidentInfo")?.value ?? {};

export const isActive = (incident: Assessment): boolean =>
  textAt(infoOf(incident), "status", "state") === "ACTIVE";

/** Epoch milliseconds. */
export const openedAt = (incident: Assessment): number =>
  numberAt(infoOf(incident), "startedAt") ?? numberAt(infoOf(incident), "created", "time") ?? 0;
