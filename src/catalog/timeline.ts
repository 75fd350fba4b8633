/**
 * What happened to an entity, in the words of people: the changes of its aspects, oldest first, each
 * with what came and went by it, and a version that counts them as releases are counted.
 *
 * Read from the entity's stream, so that it has every value that there ever was, also from before a
 * delete. Versions are counted from the first value, whatever times are asked for.
 */
import type { PlacedChange } from "../core/change.ts";
import { CatalogError } from "../core/errors.ts";
import { jsonDiff } from "../core/json-diff.ts";
import { nearest } from "../core/nearest.ts";
import {
  type SemanticChange,
  type SemanticChangeType,
  semanticChanges,
  semanticChangeTypes,
} from "../core/semantic-changes.ts";
import { changeCategories } from "../core/semantic-facts.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import type { Addresses } from "./address.ts";
import type { Catalog, ChangeTransaction } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import { changesOf } from "./stream-changes.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly addresses: Addresses;
  readonly states: Pick<EntityStates, "read">;
}

/** Of one answer: the newest. */
const transactionsMax = 10_000;
/** Names by which older clients ask for a category. */
const aliases: Readonly<Record<string, string>> = {
  OWNER: "OWNERSHIP",
  SCHEMA: "TECHNICAL_SCHEMA",
};

export function createTimeline(dependencies: Dependencies): Pick<Catalog, "getTimeline"> {
  const { addresses, states } = dependencies;

  return {
    async getTimeline({ urn: text, categories, startTime, endTime, raw = false }) {
      const { urn, entity } = addresses.known(text);
      const asked = categoriesOf(categories);
      const [state] = await states.read([urn]);
      // Nothing is known of it, or nothing may be.
      if (state === undefined || state.aspects.size === 0) return [];
      const transactions: ChangeTransaction[] = [];
      const values = new Map<string, Record<string, unknown>>();
      const count = createCount();
      for await (const change of changesOf(dependencies, urn)) {
        if (change.changeType === "RESTATE") continue;
        const { aspect, value, created, system } = change;
        const before = values.get(aspect);
        const after = value === undefined ? undefined : JSON.parse(value);
        const isKey = aspect === entity.keyAspect;
        if (after !== undefined) values.set(aspect, after);
        else if (isKey) values.clear();
        else values.delete(aspect);
        const changeEvents = semanticChanges({ urn, aspect, isKey, before, after }).filter(
          ({ category }) => asked.has(category),
        );
        if (changeEvents.length === 0) continue;
        const { time: timestamp, actor } = created;
        const semVerChange = greatest(changeEvents);
        const semVer = count(timestamp, semVerChange);
        if (timestamp < (startTime ?? 0) || timestamp > (endTime ?? Infinity)) continue;
        transactions.push({
          ...{ timestamp, actor, semVer, semVerChange, changeEvents },
          versionStamp: `${aspect}:${system.version}`,
          ...(raw && { rawDiff: jsonDiff(before ?? {}, after ?? {}) }),
        });
        if (transactions.length > transactionsMax) transactions.shift();
      }
      return transactions;
    },
  };
}

function categoriesOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.map((name) => {
      const upper = name.toUpperCase();
      const category = aliases[upper] ?? upper;
      if (changeCategories.some((one) => one === category)) return category;
      throw new CatalogError("malformed", `unknown category "${name.slice(0, 60)}"`, {
        hint: nearest(upper, changeCategories) ?? `There are ${changeCategories.join(", ")}`,
      });
    }),
  );
}

function greatest(changes: readonly SemanticChange[]): SemanticChangeType {
  const ranks = changes.map(({ semVerChange }) => rankOf(semVerChange));
  return semanticChangeTypes[Math.max(...ranks)] ?? "NONE";
}

/** The first is 0.0.0; what happened at one time is one release. */
function createCount(): (time: number, change: SemanticChangeType) => string {
  let [base, version] = [firstVersion, firstVersion];
  let [first, last]: (number | undefined)[] = [];
  let highest: SemanticChangeType = "NONE";
  return (time, change) => {
    first ??= time;
    if (time === first) return shown(version);
    if (time !== last) [base, highest, last] = [version, "NONE", time];
    if (rankOf(change) > rankOf(highest)) highest = change;
    version = next(base, highest);
    return shown(version);
  };
}

type Version = readonly [major: number, minor: number, patch: number];
const firstVersion: Version = [0, 0, 0];

const rankOf = (change: SemanticChangeType): number => semanticChangeTypes.indexOf(change);

const shown = (version: readonly number[]): string => `${version.join(".")}-computed`;

function next([major, minor, patch]: Version, change: SemanticChangeType): Version {
  if (change === "MAJOR") return [major + 1, 0, 0];
  if (change === "MINOR") return [major, minor + 1, 0];
  return change === "PATCH" ? [major, minor, patch + 1] : [major, minor, patch];
}
