/**
 * What happened to an entity, in the words of people: the changes of its aspects, oldest first, each
 * with what came and went by it, and a version that counts them as releases are counted.
 *
 * Read from the entity's stream, so that it has every value that there ever was, also from before a
 * delete. Versions are counted from the first value, whatever times are asked for.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { PlacedChange } from "../core/change.ts";
import { CatalogError } from "../core/errors.ts";
import { jsonDiff } from "../core/json-diff.ts";
import { nearest } from "../core/nearest.ts";
import { START } from "../core/position.ts";
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
import type { ReadPorts } from "./seen-ports.ts";
import { changesOf } from "./stream-changes.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly addresses: Addresses;
  readonly states: Pick<EntityStates, "read">;
  readonly hiddenUpTo?: ReadPorts["hiddenUpTo"];
}

/** Of one answer: the newest, and of those as many as their events and differences leave room for. */
const transactionsMax = 10_000;
const answerBytesMax = 16 * 1024 * 1024;
/** Of an event, as JSON text: mostly urns. */
const eventBytes = 512;
/** How long others wait for their turn. */
const sliceMs = 20;
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
      const hiddenUpTo = (await dependencies.hiddenUpTo?.(urn)) ?? START;
      const newest = createNewest();
      const values = new Map<string, Record<string, unknown>>();
      const count = createCount();
      let since = performance.now();
      for await (const change of changesOf(dependencies, urn)) {
        if (performance.now() - since > sliceMs) {
          await turn();
          since = performance.now();
        }
        if (change.changeType === "RESTATE" || change.position <= hiddenUpTo) continue;
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
        const transaction = {
          timestamp,
          actor,
          semVer,
          semVerChange,
          changeEvents,
          versionStamp: `${aspect}:${system.version}`,
          ...(raw && { rawDiff: jsonDiff(before ?? {}, after ?? {}) }),
        };
        newest.add(transaction, raw ? (value?.length ?? 0) : 0);
      }
      return newest.all();
    },
  };
}

/** The newest that fit, the last one in any case. */
function createNewest() {
  const kept: { readonly transaction: ChangeTransaction; readonly bytes: number }[] = [];
  let bytesOfAll = 0;
  const isOver = () => bytesOfAll > answerBytesMax || kept.length > transactionsMax;
  return {
    add(transaction: ChangeTransaction, valueBytes: number): void {
      const { changeEvents, rawDiff = [] } = transaction;
      const bytes = (changeEvents.length + rawDiff.length) * eventBytes + valueBytes;
      kept.push({ transaction, bytes });
      bytesOfAll += bytes;
      while (kept.length > 1 && isOver()) bytesOfAll -= kept.shift()?.bytes ?? 0;
    },
    all: () => kept.map(({ transaction }) => transaction),
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
