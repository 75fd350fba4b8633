/**
 * The timeline of an entity: one transaction for each write, oldest first, with the tags, owners,
 * terms and fields that it added, changed or removed, and a semantic version.
 *
 * Built from the entity's stream since its last hard delete. Versions count from the first write,
 * whatever time range is requested.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { AuditStamp, PlacedChange } from "../../core/change.ts";
import { CatalogError } from "../../core/errors.ts";
import { type JsonDiffOperation, jsonDiff } from "../../core/patch/json-diff.ts";
import { entityStream } from "../../core/stream.ts";
import {
  type SemanticChange,
  type SemanticChangeType,
  semanticChanges,
  semanticChangeTypes,
} from "../../core/timeline/semantic-changes.ts";
import { changeCategories } from "../../core/timeline/semantic-facts.ts";
import {
  type AcquireSlot,
  type ConcurrencyLimit,
  memorySlotOf,
  smallBytesMax,
} from "../../lib/concurrency-limit.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import type { JsonObject } from "../../lib/json.ts";
import { maxOf } from "../../lib/lists.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { changesOf } from "../../log/whole-reads.ts";
import type { Addresses } from "../address.ts";
import type { Catalog, ChangeTransaction } from "../catalog.ts";
import type { EntityCache } from "../write/entity-cache.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly addresses: Addresses;
  readonly states: Pick<EntityCache, "read">;
  /** Limits the number of concurrent large timelines. */
  readonly withLargeSlot: ConcurrencyLimit;
}

/** Limits of a response. It has the newest transactions that fit, with events and differences. */
const transactionsMax = 10_000;
const responseBytesMax = 16 * 1024 * 1024;
/** Estimated size of an event as JSON text: mostly urns. */
const eventBytes = 512;
/** Milliseconds of work before other requests run. */
const sliceMs = 20;
/** Names that older clients use for a category. */
const aliases: Readonly<Record<string, string>> = {
  OWNER: "OWNERSHIP",
  SCHEMA: "TECHNICAL_SCHEMA",
};

export function createTimeline(dependencies: Dependencies): Pick<Catalog, "getTimeline"> {
  const { log, decode, addresses, states, withLargeSlot } = dependencies;

  async function read(
    urn: string,
    keyAspect: string,
    query: Query,
    acquireSlot: AcquireSlot,
  ): Promise<readonly ChangeTransaction[]> {
    let history = createHistory(query);
    let bytes = 0;
    let since = performance.now();
    for await (const change of changesOf(log, decode, entityStream(urn))) {
      if (performance.now() - since > sliceMs) {
        await yieldToEventLoop();
        if (query.signal?.aborted) throw disconnected();
        since = performance.now();
      }
      if (change.changeType === "RESTATE") continue;
      bytes += change.value?.length ?? 0;
      if (bytes > smallBytesMax) await acquireSlot(bytes);
      const isKey = change.aspect === keyAspect;
      const isHardDelete = isKey && change.value === undefined;
      if (isHardDelete) history = createHistory(query);
      else history.add(change, isKey);
    }
    return history.end();
  }

  return {
    async getTimeline(asked) {
      const {
        urn: text,
        categories,
        startTime = 0,
        endTime = Infinity,
        raw = false,
        signal,
      } = asked;
      const { urn, entity } = addresses.readable(text);
      const query = { categories: categoriesOf(categories), startTime, endTime, raw, signal };
      const [state] = await states.read([urn]);
      // The entity does not exist, or is hidden from the caller.
      if (state === undefined || state.aspects.size === 0) return [];
      const large = memorySlotOf(withLargeSlot);
      try {
        return await read(urn, entity.keyAspect, query, large.acquire);
      } finally {
        large.release();
      }
    },
  };
}

interface Query {
  readonly categories: ReadonlySet<string>;
  readonly startTime: number;
  readonly endTime: number;
  readonly raw: boolean;
  readonly signal: AbortSignal | undefined;
}

const disconnected = (): CatalogError =>
  new CatalogError("unavailable", "the client has disconnected");

/** The changes of one write so far. */
interface Write {
  readonly created: AuditStamp;
  readonly changeEvents: SemanticChange[];
  readonly rawDiff: JsonDiffOperation[];
  valueBytes: number;
}

/** Collects the transactions of an entity since its creation. */
function createHistory({ categories, startTime, endTime, raw }: Query) {
  const newest = createNewest();
  const count = createCount();
  const values = new Map<string, JsonObject>();
  const versions = new Map<string, string>();
  let write: Write | undefined;

  function finish(): void {
    if (write === undefined || write.changeEvents.length === 0) return;
    const { created, changeEvents, rawDiff, valueBytes } = write;
    const { time: timestamp, actor } = created;
    const semVerChange = greatest(changeEvents);
    const semVer = count(timestamp, semVerChange);
    if (timestamp < startTime || timestamp > endTime) return;
    const versionStamp = stampOf(versions);
    const transaction = { timestamp, actor, semVer, semVerChange, changeEvents, versionStamp };
    newest.add(raw ? { ...transaction, rawDiff } : transaction, raw ? valueBytes : 0);
  }

  return {
    add({ urn, aspect, value, created, system }: PlacedChange, isKey: boolean): void {
      if (write === undefined || !isOf(write, created)) {
        finish();
        write = { created, changeEvents: [], rawDiff: [], valueBytes: 0 };
      }
      const before = values.get(aspect);
      const after: JsonObject | undefined = value === undefined ? undefined : JSON.parse(value);
      if (after === undefined) {
        values.delete(aspect);
        versions.delete(aspect);
      } else {
        values.set(aspect, after);
        versions.set(aspect, system.version ?? "");
      }
      const events = semanticChanges({ urn, aspect, isKey, before, after }).filter(({ category }) =>
        categories.has(category),
      );
      if (events.length === 0) return;
      for (const event of events) write.changeEvents.push(event);
      if (!raw) return;
      for (const operation of jsonDiff(before ?? {}, after ?? {})) write.rawDiff.push(operation);
      write.valueBytes += value?.length ?? 0;
    },
    end(): readonly ChangeTransaction[] {
      finish();
      return newest.all();
    },
  };
}

/** Records of one write share a stamp. Two writes of one actor in one millisecond count as one. */
const isOf = ({ created }: Write, { time, actor }: AuditStamp): boolean =>
  created.time === time && created.actor === actor;

/** Every aspect with its version, in the form that /entitiesVersionedV2 reads. */
const stampOf = (versions: ReadonlyMap<string, string>): string =>
  [...versions]
    .map(([aspect, version]) => `${aspect}:${version}`)
    .toSorted()
    .join(";");

/** The newest transactions that fit, at least the last one. */
function createNewest() {
  const kept: { readonly transaction: ChangeTransaction; readonly bytes: number }[] = [];
  let bytesOfAll = 0;
  const isOver = () => bytesOfAll > responseBytesMax || kept.length > transactionsMax;
  return {
    add(transaction: ChangeTransaction, valueBytes: number): void {
      const { changeEvents, rawDiff = [], versionStamp } = transaction;
      const operations = changeEvents.length + rawDiff.length;
      const bytes = operations * eventBytes + versionStamp.length + valueBytes;
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
      const category = ownValue(aliases, upper) ?? upper;
      if (changeCategories.some((one) => one === category)) return category;
      throw new CatalogError("malformed", `unknown category "${name.slice(0, 60)}"`, {
        hint: nearest(upper, changeCategories) ?? `Send one of ${changeCategories.join(", ")}`,
      });
    }),
  );
}

function greatest(changes: readonly SemanticChange[]): SemanticChangeType {
  const ranks = changes.map(({ semVerChange }) => rankOf(semVerChange));
  return semanticChangeTypes[maxOf(ranks)] ?? "NONE";
}

/** The first is 0.0.0; writes of one millisecond have one version. */
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
