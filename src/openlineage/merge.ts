/**
 * Merges the contributions of an event with the current aspects of an entity. Pure. The result is the same
 * for every order of events, and for events that arrive more than once:
 *
 *   latest, whole   the value of the latest event time; of equal times, that of the greater hash
 *   earliest, edge  the least stamp
 *   item            added once; the state knows it after somebody has removed it
 *   member, column  the union
 *
 * A value of another source is never overwritten, and nothing is removed.
 */
import { createHash } from "node:crypto";
import { type JsonObject, jsonObject } from "../lib/json.ts";
import { sameJson } from "../lib/same-json.ts";
import type {
  ColumnEdge,
  Contribution,
  EarliestField,
  Edge,
  LatestField,
  ListItem,
  SetMember,
  WholeAspect,
} from "./contribution.ts";
import { withColumn, withEdge, withSorted } from "./merge-lists.ts";

export const STATE = "openLineageState";

interface Write {
  readonly time: number;
  readonly hash: string;
}

/** The aspect openLineageState. */
interface State {
  readonly written: Readonly<Record<string, Write>>;
  /** Hashes of the latest events that the entity is the subject of. */
  readonly events: readonly string[];
}

/** Repetitions of older events are written again, with the same result. */
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

/** Names an event of a subject: its time, so that names have the order of events, and its content. */
export const eventName = (time: number, text: string): string =>
  `${String(time).padStart(14, "0")}:${hashOf(text)}`;

export const knowsEvent = (state: JsonObject | undefined, name: string): boolean =>
  Array.isArray(state?.events) && state.events.includes(name);

/** The aspects of one entity that change, with their new values. */
export function mergeEntity(
  contributions: readonly Contribution[],
  current: ReadonlyMap<string, JsonObject>,
  { time, event }: { readonly time: number; readonly event?: string | undefined },
): ReadonlyMap<string, JsonObject> {
  const draft = createDraft(current);
  for (const contribution of contributions) mergeOne(draft, contribution, time);
  return draft.finish(event);
}

interface Draft {
  readonly stored: (aspect: string) => JsonObject | undefined;
  readonly value: (aspect: string) => JsonObject;
  readonly set: (aspect: string, value: JsonObject) => void;
  readonly written: Map<string, Write>;
  readonly finish: (event: string | undefined) => ReadonlyMap<string, JsonObject>;
}

function createDraft(current: ReadonlyMap<string, JsonObject>): Draft {
  const before = (current.get(STATE) ?? {}) as Partial<State>;
  const written = new Map(Object.entries(before.written ?? {}));
  const values = new Map<string, JsonObject>();
  const stored = (aspect: string) => values.get(aspect) ?? current.get(aspect);
  return {
    stored,
    written,
    value: (aspect) => stored(aspect) ?? emptyAspects.get(aspect) ?? {},
    set: (aspect, value) => void values.set(aspect, value),
    finish(event) {
      const { events = [] } = before;
      const named = event === undefined ? events : [...new Set([...events, event])].sort();
      const state = { written: Object.fromEntries(written), events: named.slice(-eventsMax) };
      values.set(STATE, state);
      return new Map([...values].filter(([name, value]) => !sameJson(current.get(name), value)));
    },
  };
}

function mergeOne(draft: Draft, contribution: Contribution, time: number): void {
  const { kind } = contribution;
  if (kind === "latest") mergeLatest(draft, contribution, time);
  else if (kind === "earliest") mergeEarliest(draft, contribution);
  else if (kind === "whole") mergeWhole(draft, contribution, time);
  else if (kind === "item") mergeItem(draft, contribution);
  else if (kind === "member") mergeMember(draft, contribution);
  else if (kind === "edge") mergeEdge(draft, contribution);
  else if (kind === "column") mergeColumn(draft, contribution);
}

function mergeEdge({ value, set }: Draft, edge: Edge): void {
  const { aspect, field } = edge;
  const current = value(aspect);
  set(aspect, { ...current, [field]: withEdge(listIn(current, field), edge) });
}

function mergeColumn({ value, set }: Draft, column: ColumnEdge): void {
  const { aspect } = column;
  const current = value(aspect);
  const list = withColumn(listIn(current, "fineGrainedLineages"), column);
  set(aspect, { ...current, fineGrainedLineages: list });
}

function mergeLatest(draft: Draft, { aspect, field, member, value }: LatestField, time: number) {
  const aspectValue = draft.value(aspect);
  const map =
    member === undefined ? undefined : new Map(Object.entries(objectIn(aspectValue, field)));
  const stored = map === undefined ? aspectValue[field] : map.get(member ?? "");
  const key = [aspect, field, ...(member === undefined ? [] : [member])].join("/");
  if (!isLater(draft, key, { time, value, stored })) return;
  map?.set(member ?? "", value);
  const next = map === undefined ? value : Object.fromEntries(map);
  draft.set(aspect, { ...aspectValue, [field]: next });
}

function mergeWhole(draft: Draft, { aspect, value, mark }: WholeAspect, time: number): void {
  const current = draft.stored(aspect);
  const stored = current && mark(current);
  if (isLater(draft, aspect, { time, value: mark(value), stored })) draft.set(aspect, value);
}

/**
 * Notes the write and returns true if the value replaces the stored one: it is later than the last write of
 * an event, and the stored value is absent or the one of that write.
 */
function isLater(
  { written }: Draft,
  key: string,
  {
    time,
    value,
    stored,
  }: { readonly time: number; readonly value: unknown; readonly stored: unknown },
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

function mergeEarliest(
  { value, set, written }: Draft,
  { aspect, field, value: stamp }: EarliestField,
) {
  const key = `${aspect}/${field}`;
  const last = written.get(key);
  const current = value(aspect);
  const foreign = last === undefined && current[field] !== undefined;
  if (foreign || (last !== undefined && last.time <= stamp.time)) return;
  written.set(key, { time: stamp.time, hash: "" });
  set(aspect, { ...current, [field]: stamp });
}

function mergeItem({ value, set, written }: Draft, one: ListItem): void {
  const { aspect, field, within, item, keyOf } = one;
  const inner = within === undefined ? [] : [within.key];
  const key = [aspect, ...inner, field, keyOf(item)].join("/");
  if (written.has(key)) return;
  written.set(key, { time: 0, hash: "" });
  const current = value(aspect);
  if (within === undefined) {
    set(aspect, { ...current, [field]: withSorted(listIn(current, field), item, keyOf) });
    return;
  }
  const outer = listIn(current, within.list);
  const nameOf = (entry: unknown) => String((entry as JsonObject)[within.keyField]);
  const found = outer.find((entry) => nameOf(entry) === within.key) as JsonObject | undefined;
  const [innerField = "", list = ""] = field.split("/");
  const holder = found === undefined ? {} : objectIn(found, innerField);
  const entry = {
    ...(found ?? { [within.keyField]: within.key }),
    [innerField]: { ...holder, [list]: withSorted(listIn(holder, list), item, keyOf) },
  };
  const others = outer.filter((other) => other !== found);
  set(aspect, { ...current, [within.list]: withSorted(others, entry, nameOf) });
}

function mergeMember({ value, set }: Draft, { aspect, field, value: member }: SetMember): void {
  const current = value(aspect);
  set(aspect, { ...current, [field]: withSorted(listIn(current, field), member, String) });
}

/** The names of these fields are constants of the mapping. */
const listIn = (value: JsonObject, field: string): readonly unknown[] => {
  const list = value[field];
  return Array.isArray(list) ? list : [];
};

const objectIn = (value: JsonObject, field: string): JsonObject => {
  const member = value[field];
  return jsonObject(member) ? member : {};
};

/** JSON text with sorted members. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    jsonObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );

const HASH_CHARACTERS = 16;

const hashOf = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, HASH_CHARACTERS);
