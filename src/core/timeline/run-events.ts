/**
 * The meaning of the event of a run: an assertion was evaluated, an instance of a job started or
 * completed. Each event has a meaning of its own, because timeseries have no value before.
 */
import { type JsonObject, objectOf } from "../../lib/json.ts";
import { entityTypeOf } from "../urn.ts";
import type { SemanticChange } from "./semantic-changes.ts";

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The aspect of the events of an instance of a job, and the one that names its job or flow. */
export const INSTANCE_RUN = "dataProcessInstanceRunEvent";
export const INSTANCE_RELATIONSHIPS = "dataProcessInstanceRelationships";

/**
 * Undefined for other aspects, and for an assertion that is still running. `relationships`: the
 * value of INSTANCE_RELATIONSHIPS of the same instance, if it has one.
 */
export function runEvent(
  urn: string,
  aspect: string,
  value: JsonObject,
  relationships?: JsonObject,
): SemanticChange | undefined {
  if (aspect === "assertionRunEvent") return assertionRun(urn, value);
  if (aspect === INSTANCE_RUN) return instanceRun(urn, value, relationships);
  return undefined;
}

function assertionRun(urn: string, value: JsonObject): SemanticChange | undefined {
  if (value.status !== "COMPLETE") return undefined;
  const result = text(objectOf(value.result).type);
  return run(urn, "COMPLETED", {
    runResult: "COMPLETE",
    runId: text(value.runId),
    asserteeUrn: text(value.asserteeUrn),
    assertionResult: result,
  });
}

function instanceRun(
  urn: string,
  value: JsonObject,
  relationships: JsonObject = {},
): SemanticChange {
  const result = objectOf(value.result);
  const template = text(relationships.parentTemplate);
  const type = template === undefined ? undefined : entityTypeOf(template);
  return run(urn, value.status === "COMPLETE" ? "COMPLETED" : "STARTED", {
    attempt: typeof value.attempt === "number" ? value.attempt : undefined,
    runResult: text(result.type),
    parentInstanceUrn: text(relationships.parentInstance),
    dataFlowUrn: type === "dataFlow" ? template : undefined,
    dataJobUrn: type === "dataJob" ? template : undefined,
  });
}

const run = (
  entityUrn: string,
  operation: "STARTED" | "COMPLETED",
  parameters: JsonObject,
): SemanticChange => ({
  category: "RUN",
  operation,
  entityUrn,
  parameters: Object.fromEntries(
    Object.entries(parameters).filter(([, value]) => value !== undefined),
  ),
  semVerChange: "NONE",
  description: `The run ${operation.toLowerCase()}: ${entityUrn}`,
});
