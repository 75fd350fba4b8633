/** Reads the parts of a proposal: texts, JSON, system metadata and values that were checked before. */
import type { SystemMetadata } from "../../../core/change.ts";
import { type AspectValue, validatedText } from "../../../core/decide.ts";
import { CatalogError } from "../../../core/errors.ts";
import { type JsonLimits, readJson } from "../../../core/json-text.ts";
import { HALF } from "../../../core/urn.ts";
import type { Aspect, ValidationError } from "../../../model/model.ts";
import { CHECKED, type Proposal } from "../../catalog.ts";

export function invalidValue(
  aspect: Aspect,
  validationErrors: readonly ValidationError[],
): CatalogError {
  const findings = validationErrors.map(({ path, message }) => `ERROR :: ${path} :: ${message}`);
  return new CatalogError(
    "invalid",
    `Failed to validate record with class ${aspect.record}: ${findings.join("; ")}`,
  );
}

/** Returns the result of the first successful call for every call. */
export function parsedOnce(parse: () => unknown): () => unknown {
  let parsed: { readonly value: unknown } | undefined;
  return () => {
    parsed ??= { value: parse() };
    return parsed.value;
  };
}

/** Parses the JSON text of a member of the proposal. */
export function parseJsonText(text: string, member: string, limits: JsonLimits): unknown {
  const read = readJson(text, limits);
  if (read.ok) return read.value;
  if (read.code === "malformed") {
    throw new CatalogError("malformed", `${member} is not JSON: ${read.fault}`);
  }
  throw new CatalogError("too_large", `${member} is too large: ${read.fault}`, {
    hint: "Raise --body-members-max if the value must be that large",
  });
}

/** The value of a proposal that is already validated; throws its validation error. Else undefined. */
export function checkedBefore({ aspect, [CHECKED]: checked }: Proposal): AspectValue | undefined {
  if (checked === undefined || checked === "open") return undefined;
  if (checked !== "valid") throw checked.rejection;
  return validatedText(String(aspect?.value));
}

/** The system metadata that a client may set; the server sets the rest. */
export function systemOf({ systemMetadata: sent }: Proposal): Partial<SystemMetadata> {
  if (sent === undefined) return {};
  const { lastObserved, pipelineName, registryName, registryVersion, properties } = sent;
  // An empty run id counts as absent.
  const runId = sent.runId === "" ? undefined : sent.runId;
  for (const text of [runId, pipelineName, registryName, registryVersion]) rejectHalf(text);
  for (const name in properties) {
    rejectHalf(name);
    // Safe lookup: the loop yields the members of the object.
    rejectHalf(properties[name]);
  }
  return { lastObserved, runId, pipelineName, registryName, registryVersion, properties };
}

/**
 * Rejects text that the log would store differently, because a search for the sent text would not
 * find it.
 */
function rejectHalf(text: string | undefined): void {
  if (text === undefined || text.isWellFormed()) return;
  throw new CatalogError(
    "malformed",
    `systemMetadata contains an unpaired surrogate, which is invalid Unicode: ${JSON.stringify(text.slice(0, 120))}`,
    { hint: HALF },
  );
}
