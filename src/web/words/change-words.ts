/** Changes in words: "owner Imke added as data steward", "description changed". */
import { at, isObject, type JsonObject, textAt } from "../api/json.ts";
import { ownerTypeLabel, sentenceCase } from "../api/type-names.ts";
import { isUrn, nameOfUrn } from "../api/urn.ts";

interface ChangedAspect {
  readonly changeType: string;
  readonly aspectName: string;
  readonly aspect?: { readonly value: unknown };
  readonly previousAspectValue?: { readonly value: unknown };
}

/** The name of an entity. */
export type Naming = (urn: string) => string;

/** One noun for the items of a list, and the members that identify an item. */
interface ListWords {
  readonly noun: string;
  readonly keys: readonly string[];
}

const lists = new Map<string, ListWords>([
  ["owners", { noun: "owner", keys: ["owner", "type"] }],
  ["tags", { noun: "tag", keys: ["tag"] }],
  ["terms", { noun: "term", keys: ["urn"] }],
  ["domains", { noun: "domain", keys: [] }],
  ["elements", { noun: "link", keys: ["url"] }],
  ["upstreams", { noun: "upstream", keys: ["dataset"] }],
  ["fields", { noun: "column", keys: ["fieldPath"] }],
  ["editableSchemaFieldInfo", { noun: "text of column", keys: ["fieldPath"] }],
  ["properties", { noun: "property", keys: ["propertyUrn"] }],
]);

/** Members that follow from others, or that every write changes. */
const silent: ReadonlySet<string> = new Set([
  "lastModified",
  "created",
  "auditStamp",
  "ownerTypes",
  "domainAssociations",
  "hash",
]);

/** Members with a text that people write: the description of an entity, its name. */
const texts: ReadonlySet<string> = new Set([
  ..."description definition about aboutMe name displayName title".split(" "),
]);

/** At most so many sentences for one change. */
const sentencesMax = 20;

export function wordsOfChange(
  change: ChangedAspect,
  nameOf: Naming = nameOfUrn,
): readonly string[] {
  const aspect = sentenceCase(change.aspectName).toLowerCase();
  if (change.changeType === "DELETE") return [`${aspect} deleted`];
  const before = change.previousAspectValue?.value;
  const after = change.aspect?.value;
  if (!isObject(after)) return [`${aspect} written`];
  if (change.aspectName === "status") {
    if (after.removed === true) return ["soft-deleted"];
    if (isObject(before) && before.removed === true) return ["restored from deletion"];
    return ["status written"];
  }
  if (!isObject(before)) {
    // The key aspect is written when an entity is created.
    return change.aspectName.endsWith("Key") ? ["created"] : firstWords(aspect, after, nameOf);
  }
  const sentences = differences(before, after, nameOf);
  return sentences.length === 0 ? [`${aspect} confirmed`] : sentences.slice(0, sentencesMax);
}

/** A new aspect: its items, its texts if it has no other members, or that it was added. */
function firstWords(aspect: string, after: JsonObject, nameOf: Naming): readonly string[] {
  const items = Object.entries(after).flatMap(([name, value]) => {
    const words = lists.get(name);
    if (words === undefined || !Array.isArray(value) || value.length > 3) return [];
    return value.map((item) => itemWords(item, "added", words, nameOf));
  });
  if (items.length > 0) return items;
  const members = Object.keys(after).filter((name) => !silent.has(name));
  const described = members.length > 0 && members.every((name) => texts.has(name));
  const sentences = described ? differences({}, after, nameOf) : [];
  return sentences.length > 0 ? sentences : [`${aspect} added`];
}

/** The differences of two values of an aspect, one sentence each. */
export function differences(
  before: JsonObject,
  after: JsonObject,
  nameOf: Naming = nameOfUrn,
): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    if (silent.has(name)) return [];
    const old = at(before, name);
    const now = at(after, name);
    if (JSON.stringify(old ?? "") === JSON.stringify(now ?? "")) return [];
    const words = lists.get(name);
    if (words !== undefined && (Array.isArray(old) || Array.isArray(now))) {
      return listDifferences(words, asList(old), asList(now), nameOf);
    }
    const label = sentenceCase(name).toLowerCase();
    if (isObject(old) && isObject(now) && name === "customProperties") {
      return memberDifferences(old, now);
    }
    if (old === undefined || old === "") {
      const words = valueWords(now, nameOf);
      return [words === "" ? `${label} added` : `${label} set${words}`];
    }
    if (now === undefined || now === "") return [`${label} removed`];
    return [`${label} changed${valueWords(now, nameOf)}`];
  });
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Short values are part of the sentence. */
const valueWords = (value: unknown, nameOf: Naming): string =>
  typeof value === "number" || typeof value === "boolean"
    ? ` to ${value}`
    : typeof value !== "string"
      ? ""
      : isUrn(value)
        ? ` to “${shortened(nameOf(value))}”`
        : value.length <= 40
          ? ` to “${value}”`
          : "";

function memberDifferences(old: JsonObject, now: JsonObject): readonly string[] {
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].flatMap((name) => {
    if (!Object.hasOwn(old, name)) return [`property ${name} added`];
    if (!Object.hasOwn(now, name)) return [`property ${name} removed`];
    return JSON.stringify(at(old, name)) === JSON.stringify(at(now, name))
      ? []
      : [`property ${name} changed`];
  });
}

function listDifferences(
  words: ListWords,
  before: readonly unknown[],
  after: readonly unknown[],
  nameOf: Naming,
): readonly string[] {
  const old = new Map(before.map((item) => [keyOf(item, words), item]));
  const now = new Map(after.map((item) => [keyOf(item, words), item]));
  const { noun } = words;
  const added = [...now].filter(([key]) => !old.has(key));
  const removed = [...old].filter(([key]) => !now.has(key));
  const changed = [...now].filter(
    ([key, item]) => old.has(key) && JSON.stringify(old.get(key)) !== JSON.stringify(item),
  );
  const sentences = [
    ...added.map(([, item]) => [item, "added"] as const),
    ...removed.map(([, item]) => [item, "removed"] as const),
    ...changed.map(([, item]) => [item, "changed"] as const),
  ];
  if (sentences.length === 0) return [`${noun}s reordered`];
  // The names of the others are not needed.
  return sentences
    .slice(0, sentencesMax)
    .map(([item, verb]) => itemWords(item, verb, words, nameOf));
}

/** "owner Imke added as data steward": an owner may have several ownership types. */
function itemWords(item: unknown, verb: string, words: ListWords, nameOf: Naming): string {
  const sentence = `${words.noun} ${labelOf(item, words, nameOf)} ${verb}`;
  if (words.noun !== "owner") return sentence;
  const type = textAt(item, "type") ?? "NONE";
  if (type === "NONE") return sentence;
  const custom = customTypeOf(item);
  return `${sentence} as ${custom === undefined ? ownerTypeLabel(type) : shortened(nameOf(custom))}`;
}

/** The urn of an ownership type that the enum does not have. */
const customTypeOf = (owner: unknown): string | undefined =>
  textAt(owner, "type") === "CUSTOM" ? textAt(owner, "typeUrn") : undefined;

const membersOf = (item: unknown, { keys }: ListWords): readonly string[] =>
  isObject(item)
    ? keys.map((key) => (Object.hasOwn(item, key) ? String(item[key]) : ""))
    : [String(item)];

const keyOf = (item: unknown, words: ListWords): string =>
  [...membersOf(item, words), customTypeOf(item) ?? ""].join("\n");

function labelOf(item: unknown, words: ListWords, nameOf: Naming): string {
  const [first = ""] = membersOf(item, words);
  return shortened(isUrn(first) ? nameOf(first) : first);
}

/** Characters of a name in a sentence. */
const nameMax = 80;

const shortened = (name: string): string =>
  name.length <= nameMax ? name : `${[...name].slice(0, nameMax).join("")}…`;
