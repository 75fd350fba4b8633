/**
 * Merges the contributions of an event with the current aspects of an entity. Pure. The result is the same
 * for every order of events, and for events that arrive more than once:
 *
 *   latest, whole   the value of the latest event time; of equal times, that of the greater hash
 *   earliest, edge  the least stamp
 *   item            added once; the state records it, so it is not added again after its removal
 *   member, column  the union
 *
 * A value of another source is never overwritten, and nothing is removed.
 */
import { createHash } from "node:crypto";
import { type JsonObject, jsonObject, sortedMembers } from "../lib/json.ts";
import { sameJson } from "../lib/same-json.ts";
import { type AspectDraft, createAspectDraft, createListDraft } from "./aspect-draft.ts";
import type {
  ColumnEdge,
  Contribution,
  EarliestField,
  LatestField,
  LineageEdge,
  ListItem,
  Stamp,
  WholeAspect,
} from "./contribution.ts";

export const STATE = "openLineageState";

interface Write {
  readonly time: number;
  readonly hash: string;
}

/** The value of the aspect openLineageState. */
interface State {
  readonly written: Readonly<Record<string, Write>>;
  /** Hashes of the latest events that the entity is the subject of. */
  readonly events: readonly string[];
}

/**
 * Maximum number of recorded events. An older event that is repeated is merged again, with the same
 * result.
 */
const eventsMax = 64;

/** Required members of aspects that an event may create. */
const emptyAspects: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["dataJobInputOutput", { inputDatasets: [], outputDatasets: [] }],
  ["dataProcessInstanceInput", { inputs: [] }],
  ["dataProcessInstanceOutput", { outputs: [] }],
  ["dataProcessInstanceRelationships", { upstreamInstances: [] }],
  ["upstreamLineage", { upstreams: [] }],
  ["ownership", { owners: [] }],
  ["globalTags", { tags: [] }],
  ["subTypes", { typeNames: [] }],
  ["dataTransformLogic", { transforms: [] }],
  ["siblings", { siblings: [] }],
  ["editableSchemaMetadata", { editableSchemaFieldInfo: [] }],
]);

/** The name of an event: its time, so that names sort in the order of events, and a hash of its text. */
export const eventName = (time: number, text: string): string =>
  `${String(time).padStart(14, "0")}:${hashOf(text)}`;

/** True if the state records the event, which is then a repetition. */
export const hasEvent = (state: JsonObject | undefined, name: string): boolean =>
  Array.isArray(state?.events) && state.events.includes(name);

/**
 * The aspects of one entity that change, with their new values. `current`: the stored aspects; `event`: name of
 * the event, if the entity is its subject.
 */
export function mergeEntity(
  contributions: readonly Contribution[],
  current: ReadonlyMap<string, JsonObject>,
  { time, event }: { readonly time: number; readonly event?: string | undefined },
): ReadonlyMap<string, JsonObject> {
  const before = (current.get(STATE) ?? {}) as Partial<State>;
  const written = new Map(Object.entries(before.written ?? {}));
  const drafts = new Map<string, AspectDraft>();
  const inner = new Map<string, ListItem[]>();
  for (const contribution of contributions) {
    if (!("aspect" in contribution) || contribution.kind === "event") continue;
    const { aspect } = contribution;
    const draft =
      drafts.get(aspect) ?? createAspectDraft(current.get(aspect), emptyAspects.get(aspect));
    drafts.set(aspect, draft);
    mergeOne(draft, contribution, { written, time, inner });
  }
  for (const items of inner.values()) addInner(drafts, items);
  const { events = [] } = before;
  const named = event === undefined ? events : [...new Set([...events, event])].sort();
  const state = { written: Object.fromEntries(written), events: named.slice(-eventsMax) };
  const values = [...drafts].map(([name, { value }]) => [name, value()] as const);
  return new Map(
    [...values, [STATE, state] as const].filter(
      ([name, value]) => value !== undefined && !sameJson(current.get(name), value),
    ) as [string, JsonObject][],
  );
}

interface Writes {
  /** Updated by the merge: the last write of each `aspect/field`. */
  readonly written: Map<string, Write>;
  /** Time of the event in epoch milliseconds. */
  readonly time: number;
  /** New items of inner lists, by list: each list is rebuilt once. */
  readonly inner: Map<string, ListItem[]>;
}

type AspectPart = Exclude<Contribution, { kind: "event" | "exists" }>;

function mergeOne(draft: AspectDraft, one: AspectPart, writes: Writes): void {
  if (one.kind === "latest") mergeLatest(draft, one, writes);
  else if (one.kind === "earliest") mergeEarliest(draft, one, writes);
  else if (one.kind === "whole") mergeWhole(draft, one, writes);
  else if (one.kind === "item") mergeItem(draft, one, writes);
  else if (one.kind === "member") draft.list(one.field, String).add(one.value);
  else if (one.kind === "edge") mergeEdge(draft, one);
  else mergeColumn(draft, one);
}

function mergeLatest(draft: AspectDraft, part: LatestField, writes: Writes): void {
  const { aspect, field, member, value } = part;
  const map = member === undefined ? draft.fields : draft.map(field);
  const name = member ?? field;
  const key = [aspect, field, ...(member === undefined ? [] : [member])].join("/");
  if (isLater(key, { value, stored: map.get(name) }, writes)) map.set(name, value);
}

function mergeWhole(draft: AspectDraft, part: WholeAspect, writes: Writes): void {
  const { aspect, value, mark } = part;
  const current = draft.value();
  const stored = current && mark(current);
  if (isLater(aspect, { value: mark(value), stored }, writes)) draft.replace(value);
}

/**
 * Records the write and returns true if the value replaces the stored one: it is later than the last write by
 * an event, and the stored value is absent or that of this last write.
 */
function isLater(
  key: string,
  { value, stored }: { readonly value: unknown; readonly stored: unknown },
  { written, time }: Writes,
): boolean {
  const last = written.get(key);
  const hash = hashOf(canonical(value));
  if (last !== undefined && (last.time > time || (last.time === time && last.hash >= hash))) {
    return false;
  }
  const absent = stored === undefined || stored === null;
  const own = absent || (last !== undefined && last.hash === hashOf(canonical(stored)));
  if (!own) return false;
  written.set(key, { time, hash });
  return true;
}

function mergeEarliest({ fields }: AspectDraft, part: EarliestField, { written }: Writes): void {
  const { aspect, field, value: stamp } = part;
  const key = `${aspect}/${field}`;
  const last = written.get(key);
  const foreign = last === undefined && fields.get(field) !== undefined;
  if (foreign || (last !== undefined && last.time <= stamp.time)) return;
  written.set(key, { time: stamp.time, hash: "" });
  fields.set(field, stamp);
}

function mergeItem(draft: AspectDraft, one: ListItem, { written, inner }: Writes): void {
  const { aspect, field, within, item, keyOf } = one;
  const key = [aspect, ...(within === undefined ? [] : [within.key]), field, keyOf(item)].join("/");
  if (written.has(key)) return;
  written.set(key, { time: 0, hash: "" });
  if (within === undefined) {
    draft.list(field, keyOf).add(item);
    return;
  }
  const place = JSON.stringify([aspect, within.list, within.key, field]);
  const items = inner.get(place);
  if (items === undefined) inner.set(place, [one]);
  else items.push(one);
}

/** Adds the items of one inner list to its entry. */
function addInner(drafts: ReadonlyMap<string, AspectDraft>, items: readonly ListItem[]): void {
  const [first] = items;
  if (first?.within === undefined) return;
  const { aspect, field: path, within, keyOf } = first;
  const { list, key, keyField } = within;
  const outer = drafts.get(aspect)?.list(list, (entry) => String((entry as JsonObject)[keyField]));
  const entry = (outer?.get(key) ?? { [keyField]: key }) as JsonObject;
  // The path of the list in the entry: `globalTags/tags`.
  const [field = "", member = ""] = path.split("/");
  const holder = jsonObject(entry[field]) ? entry[field] : {};
  const inner = createListDraft(holder[member], keyOf);
  for (const { item } of items) inner.add(item);
  outer?.set(key, { ...entry, [field]: { ...holder, [member]: inner.value() } });
}

function mergeEdge(draft: AspectDraft, edge: LineageEdge): void {
  const { field, keyField, item } = edge;
  const list = draft.list(field, (one) => String((one as JsonObject)[keyField]));
  const key = String(item[keyField]);
  const current = list.get(key) as JsonObject | undefined;
  list.set(key, current === undefined ? item : earlierEdge(current, edge));
}

function mergeColumn(draft: AspectDraft, column: ColumnEdge): void {
  const list = draft.list("fineGrainedLineages", columnKey);
  const { downstream } = column;
  list.set(downstream, withColumn(list.get(downstream), column));
}

/** JSON text with sorted members. */
const canonical = (value: unknown): string => JSON.stringify(value, sortedMembers);

const HASH_CHARACTERS = 16;

const hashOf = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, HASH_CHARACTERS);

/** Of two edges with the same key, the one with the earlier stamp. */
function earlierEdge(current: JsonObject, { stampField, item }: LineageEdge): JsonObject {
  const before = current[stampField] as Stamp | undefined;
  const added = item[stampField] as Stamp;
  // Another source states the edge with its own actor, or without a stamp.
  if (before === undefined || before.actor !== added.actor) return current;
  if (added.time !== before.time) return added.time < before.time ? item : current;
  return JSON.stringify(item) < JSON.stringify(current) ? item : current;
}

interface FineGrained {
  readonly upstreamType?: string;
  readonly upstreams?: readonly string[];
  readonly downstreams?: readonly string[];
  readonly transformOperation?: string;
  readonly confidenceScore?: number;
}

/** DataHub's score for column lineage of OpenLineage. */
const CONFIDENCE = 0.5;
const SEPARATOR = ",";

/** The downstream column of an entry of OpenLineage; entries of other sources have other keys. */
function columnKey(entry: unknown): string {
  const { upstreamType, downstreams = [], confidenceScore } = entry as FineGrained;
  const [downstream = ""] = downstreams;
  const own = upstreamType === "FIELD_SET" && confidenceScore === CONFIDENCE;
  return own && downstreams.length === 1 ? downstream : `other ${JSON.stringify(entry)}`;
}

/** The entry of a downstream column: the union of all events. */
function withColumn(
  entry: unknown,
  { downstream, upstreams, transformations }: ColumnEdge,
): JsonObject {
  const found = (entry ?? {}) as FineGrained;
  const operations = union(found.transformOperation?.split(SEPARATOR) ?? [], transformations);
  return {
    ...found,
    upstreamType: "FIELD_SET",
    upstreams: union(found.upstreams ?? [], upstreams),
    downstreamType: "FIELD_SET",
    downstreams: [downstream],
    ...(operations.length > 0 && { transformOperation: operations.join(SEPARATOR) }),
    confidenceScore: CONFIDENCE,
  };
}

const union = (some: readonly string[], more: readonly string[]): readonly string[] =>
  [...new Set([...some, ...more])].sort();
