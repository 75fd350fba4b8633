/**
 * A record of a file as the catalog's HTTP interface takes it. Understood are
 *
 *   {"proposedSnapshot": {"<snapshot record>": {urn, aspects}}, systemMetadata?}   a legacy snapshot
 *   {"entity": {"value": {"<snapshot record>": …}}, systemMetadata?}               the same on the wire
 *   {entityType, entityUrn, aspectName, aspect: {"json": {…}}, …}                  a proposal in a file
 *   {entityType, entityUrn, aspectName, aspect: {value, contentType}, …}           the same on the wire
 *   {"proposal": {…}}                                                              the same, wrapped
 */
import { messageOf } from "../../core/errors.ts";
export interface Submission {
  readonly kind: "proposal" | "snapshot";
  /** The urn of its entity; for a proposal with only a key: the key as text. */
  readonly urn: string;
  /** Number of aspects that it writes. */
  readonly aspects: number;
  /** JSON text of the proposal; of a snapshot: of `{"value": {…}}`. */
  readonly body: string;
  /** JSON text of its system metadata, which a snapshot has beside it. */
  readonly systemMetadata: string;
}

/** The run id that a record gets, from its own. */
export type RunIdOf = (own: unknown) => unknown;

type JsonObject = Readonly<Record<string, unknown>>;

/** The forms of a record, for error messages. */
export const shapes =
  "A record is a proposal {entityType, entityUrn, changeType, aspectName, aspect} or a snapshot {proposedSnapshot: {…}}";

/** The record as it is sent, or what is wrong with its form. */
export function toSubmission(text: string, runIdOf: RunIdOf): Submission | { fault: string } {
  const parsed = parse(text);
  if ("fault" in parsed) return parsed;
  const record = objectOf(parsed.value);
  if (record === undefined) return { fault: `the record is not a JSON object. ${shapes}` };
  const proposal = objectOf(record.proposal) ?? record;
  const metadata = systemMetadataOf(proposal, runIdOf);
  const value = objectOf(record.proposedSnapshot) ?? objectOf(objectOf(record.entity)?.value);
  if (value !== undefined) return snapshot(value, metadata);
  if (typeof proposal.entityType === "string") return toProposal(proposal, metadata);
  const members = Object.keys(record).slice(0, 5).join(", ").slice(0, 120);
  return { fault: `the record has the members {${members}}. ${shapes}` };
}

function snapshot(value: JsonObject, metadata: JsonObject): Submission | { fault: string } {
  const [body] = Object.values(value);
  const { urn, aspects } = objectOf(body) ?? {};
  if (typeof urn !== "string") return { fault: `the snapshot has no urn. ${shapes}` };
  return {
    kind: "snapshot",
    urn,
    aspects: Array.isArray(aspects) ? aspects.length : 0,
    body: JSON.stringify({ value }),
    systemMetadata: JSON.stringify(metadata),
  };
}

function toProposal(proposal: JsonObject, metadata: JsonObject): Submission {
  const { entityUrn, entityKeyAspect, aspect, changeType = "UPSERT" } = proposal;
  const key = onWire(entityKeyAspect, "application/json");
  const patch = changeType === "PATCH" ? "application/json-patch+json" : "application/json";
  const body = {
    ...proposal,
    changeType,
    ...(key === undefined ? {} : { entityKeyAspect: key }),
    ...(aspect === undefined || aspect === null ? {} : { aspect: onWire(aspect, patch) }),
    systemMetadata: metadata,
  };
  return {
    kind: "proposal",
    urn: typeof entityUrn === "string" ? entityUrn : JSON.stringify(key ?? null),
    aspects: 1,
    body: JSON.stringify(body),
    systemMetadata: JSON.stringify(metadata),
  };
}

/** `{"json": {…}}` → `{"value": "{…}", "contentType": …}`; the wire form stays as it is. */
function onWire(aspect: unknown, contentType: string): unknown {
  const inFile = objectOf(aspect);
  if (inFile === undefined || !("json" in inFile)) return aspect ?? undefined;
  return { value: JSON.stringify(inFile.json), contentType };
}

function systemMetadataOf(record: JsonObject, runIdOf: RunIdOf): JsonObject {
  const own = objectOf(record.systemMetadata) ?? {};
  return { ...own, runId: runIdOf(own.runId) };
}

function parse(text: string): { value: unknown } | { fault: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const why = messageOf(error);
    return { fault: `the record is not JSON: ${why}` };
  }
}

function objectOf(value: unknown): JsonObject | undefined {
  const fits = typeof value === "object" && value !== null && !Array.isArray(value);
  return fits ? (value as JsonObject) : undefined;
}
