/** Requests to run an ingestion. The service stores them; executors outside the service run them. */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import { jsonObject, parsedValue } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { createEntity, given, stampOf, storedAspect } from "../changes.ts";
import { proposalOf, rejectMissing, urnOf, write } from "../writing.ts";

const SOURCE = "dataHubIngestionSource";
const REQUEST = "dataHubExecutionRequest";
const defaultExecutor = "default";

/** The recipe with the run's id, which executors write into the metadata that they ingest. */
function recipeFor(text: unknown, names: { runId: string; pipeline: string }): string {
  const recipe = typeof text === "string" ? parsedValue(text) : undefined;
  if (!jsonObject(recipe)) {
    throw new CatalogError("malformed", "the recipe is not a JSON object", {
      hint: "Store the recipe as JSON text; convert YAML to JSON first",
    });
  }
  return JSON.stringify({ pipeline_name: names.pipeline, ...recipe, run_id: names.runId });
}

export const executionMutations = {
  async createIngestionExecutionRequest(
    { input }: InputArgs<{ ingestionSourceUrn: string }>,
    viewer: Viewer,
  ) {
    const source = urnOf(input.ingestionSourceUrn, [SOURCE], viewer);
    const { config } = await storedAspect(source, "dataHubIngestionSourceInfo", viewer);
    const id = randomUUID();
    const runId = `urn:${viewer.namespace}:${REQUEST}:${id}`;
    const extraArgs = memberAt(config, ["extraArgs"]);
    const version = memberAt(config, ["version"]);
    const value = {
      task: "RUN_INGEST",
      source: { type: "MANUAL_INGESTION_SOURCE", ingestionSource: source },
      executorId: memberAt(config, ["executorId"]) ?? defaultExecutor,
      requestedAt: viewer.now(),
      ...given({ actorUrn: viewer.actor }),
      args: {
        ...(jsonObject(extraArgs) && extraArgs),
        recipe: recipeFor(memberAt(config, ["recipe"]), { runId, pipeline: source }),
        debug_mode: String(memberAt(config, ["debugMode"]) === true),
        ...(typeof version === "string" && { version }),
      },
    };
    return createEntity(REQUEST, { id, aspects: { dataHubExecutionRequestInput: value } }, viewer);
  },

  async cancelIngestionExecutionRequest(
    { input }: InputArgs<{ ingestionSourceUrn: string; executionRequestUrn: string }>,
    viewer: Viewer,
  ) {
    const source = urnOf(input.ingestionSourceUrn, [SOURCE], viewer);
    const urn = urnOf(input.executionRequestUrn, [REQUEST], viewer);
    await rejectMissing([urn], viewer);
    const { config } = await storedAspect(source, "dataHubIngestionSourceInfo", viewer);
    const value = {
      signal: "KILL",
      executorId: memberAt(config, ["executorId"]) ?? defaultExecutor,
      createdAt: stampOf(viewer),
    };
    await write([proposalOf(urn, "dataHubExecutionRequestSignal", value)], viewer);
    return urn;
  },

  async createTestConnectionRequest(
    { input }: InputArgs<{ recipe: string; version?: Maybe<string> }>,
    viewer: Viewer,
  ) {
    const id = randomUUID();
    const runId = `urn:${viewer.namespace}:${REQUEST}:${id}`;
    const value = {
      task: "TEST_CONNECTION",
      source: { type: "MANUAL_TEST_CONNECTION" },
      executorId: defaultExecutor,
      requestedAt: viewer.now(),
      args: {
        recipe: recipeFor(input.recipe, { runId, pipeline: runId }),
        ...given({ version: input.version }),
      },
    };
    return createEntity(REQUEST, { id, aspects: { dataHubExecutionRequestInput: value } }, viewer);
  },
};
