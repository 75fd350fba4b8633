/**
 * The reader of the aspect view in SQLite, with its own connection.
 *
 * The state of an entity is one snapshot: each call, or slice of a long call, reads in one
 * transaction. Between slices it yields to other requests.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type AspectState, type EntityState, unknownEntity } from "../../../core/entity-state.ts";
import { revision } from "../../../core/position.ts";
import { appendAll, slicesOf } from "../../../lib/lists.ts";
import { splitUrn } from "../../../storage/split-urn.ts";
import { type Prepared, preparingOn } from "../../../storage/sqlite/prepared.ts";
import { openSqliteReading } from "../../../storage/sqlite/sqlite-reading.ts";
import type { AspectReader, StoredValue } from "../aspect-table.ts";
import { createUrnPattern, type UrnPattern } from "../urn-like.ts";
import { aspectSchema, NEWEST } from "./schema.ts";

/** Entities or urns per slice: about 5 milliseconds. */
const ENTITIES_PER_SLICE_MAX = 200;
const URNS_PER_SLICE_MAX = 500;

export function openSqliteAspectReader(path: string): AspectReader {
  const { db, readOne, read, position, close } = openSqliteReading(aspectSchema, path);
  const numbers = createNumbers(db);
  const { isKnown, getEntity, findValue } = createEntityQueries(db, numbers);
  const { listUrns, urnsAfter, countEntities, countAspectIn } = createListQueries(db, numbers);

  return {
    position,
    async getEntities(urns) {
      const [urn = ""] = urns;
      // A new entity needs only one lookup.
      if (urns.length === 1 && !(await readOne(() => isKnown(urn)))) return [unknownEntity(urn)];
      if (urns.length <= ENTITIES_PER_SLICE_MAX) return read(() => urns.map(getEntity));
      const states: EntityState[] = [];
      for (const slice of slicesOf(urns, ENTITIES_PER_SLICE_MAX)) {
        appendAll(states, await read(() => slice.map(getEntity)));
        await yieldToEventLoop();
      }
      return states;
    },
    findValue: (urn, aspect, version) => read(() => findValue(urn, aspect, version)),
    listUrns: (entityType, page) => read(() => listUrns(entityType, page)),
    urnsAfter: (entityType, after, count) => read(() => urnsAfter(entityType, after, count)),
    countEntities: () => read(countEntities),
    async countAspect(aspect, urnLike = "%") {
      const pattern = createUrnPattern(urnLike);
      let count = 0;
      for (const { id, prefix } of await read(numbers.kinds)) {
        let from: string | undefined = firstRest(prefix, pattern);
        while (from !== undefined) {
          const start: string = from;
          const slice = await read(() => countAspectIn(id, prefix, start, aspect, pattern));
          count += slice.count;
          from = slice.next;
          await yieldToEventLoop();
        }
      }
      return count;
    },
    close,
  };
}

/** The first possible match among the urns of a kind; undefined if none can match. */
function firstRest(prefix: string, pattern: UrnPattern): string | undefined {
  if (pattern.prefix.startsWith(prefix)) return pattern.prefix.slice(prefix.length);
  return prefix.startsWith(pattern.prefix) ? "" : undefined;
}

interface Numbered {
  readonly id: number;
}

interface Kind extends Numbered {
  readonly prefix: string;
}

interface Numbers {
  /** The kind and the rest of a urn; undefined for an unknown kind. */
  place(urn: string): readonly [kind: number, rest: string] | undefined;
  aspectNumber(name: string): number | undefined;
  aspectName(number: number): string;
  /** Kinds in the order of their urns. */
  kinds(): readonly Kind[];
}

/** Cache of numbers, which never change; misses are looked up. */
function createNumbers(db: DatabaseSync): Numbers {
  const kindIds = new Map<string, number>();
  const aspectIds = new Map<string, number>();
  const aspectNames = new Map<number, string>();
  const { objects } = preparingOn(db);
  const findKind = objects<Numbered>("SELECT id FROM entity_kind WHERE prefix = ?");
  const allKinds = objects<Kind>("SELECT id, prefix FROM entity_kind ORDER BY prefix");
  const findAspect = objects<Numbered>("SELECT id FROM aspect_name WHERE name = ?");
  const allAspects = objects<Numbered & { readonly name: string }>(
    "SELECT id, name FROM aspect_name",
  );

  const lookUp = (known: Map<string, number>, find: Prepared<Numbered>, text: string) => {
    let id = known.get(text);
    if (id === undefined) {
      id = find.get(text)?.id;
      if (id !== undefined) known.set(text, id);
    }
    return id;
  };

  return {
    place(urn) {
      const { prefix, rest } = splitUrn(urn);
      const kind = lookUp(kindIds, findKind, prefix);
      return kind === undefined ? undefined : [kind, rest];
    },
    aspectNumber: (name) => lookUp(aspectIds, findAspect, name),
    aspectName(number) {
      if (!aspectNames.has(number)) {
        for (const { id, name } of allAspects.all()) aspectNames.set(id, name);
      }
      return aspectNames.get(number) ?? "";
    },
    kinds: () => allKinds.all(),
  };
}

function createEntityQueries(db: DatabaseSync, numbers: Numbers) {
  const { arrays, objects } = preparingOn(db);
  const findEntity = arrays<EntityRow>(
    "SELECT id, revision FROM entity WHERE kind = ? AND rest = ?",
  );
  const newestValues = arrays<ValueRow>(`
    ${NEWEST} SELECT v.aspect, v.version, v.value, v.time, v.actor, v.system, v.removed, v.revision
    FROM newest JOIN aspect_value AS v ON v.rowid = newest.id`);
  const findNumber = objects<StoredValue>(`
    SELECT version, value, time, actor, system FROM aspect_value
    WHERE entity = ? AND aspect = ? AND version = ?`);

  function entityOf(urn: string): EntityRow | undefined {
    const place = numbers.place(urn);
    return place && findEntity.get(...place);
  }

  return {
    isKnown: (urn: string): boolean => entityOf(urn) !== undefined,

    getEntity(urn: string): EntityState {
      const entity = entityOf(urn);
      if (entity === undefined) return unknownEntity(urn);
      let last = entity[1];
      const aspects = new Map<string, AspectState>();
      // Aspects that were written together have the same one.
      let [text, system] = ["", undefined as unknown];
      for (const row of newestValues.all(entity[0])) {
        if (row[5] !== text) [text, system] = [row[5], JSON.parse(row[5])];
        const name = numbers.aspectName(row[0]);
        aspects.set(name, {
          name,
          version: row[1],
          value: row[2],
          time: row[3],
          actor: row[4],
          system: system as AspectState["system"],
          removed: row[6] !== null,
        });
        if (row[7] > last) last = row[7];
      }
      return { urn, revision: revision(last), aspects };
    },

    findValue(urn: string, aspect: string, version: number): StoredValue | undefined {
      const entity = entityOf(urn);
      const number = numbers.aspectNumber(aspect);
      if (entity === undefined || number === undefined) return undefined;
      const row = findNumber.get(entity[0], number, version);
      return row && { ...row };
    },
  };
}

type EntityRow = readonly [id: number, revision: number];
type ValueRow = readonly [
  aspect: number,
  version: number,
  value: string,
  time: number,
  actor: string,
  system: string,
  removed: number | null,
  revision: number,
];

function createListQueries(db: DatabaseSync, numbers: Numbers) {
  const { arrays, objects } = preparingOn(db);
  const kindsOf = objects<Kind & { readonly living: number }>(
    "SELECT id, prefix, living FROM entity_kind WHERE type = ? ORDER BY prefix",
  );
  const counts = objects<{ readonly type: string; readonly living: number }>(
    "SELECT type, sum(living) AS living FROM entity_kind WHERE type IS NOT NULL GROUP BY type",
  );
  const livingOf = arrays<readonly [rest: string]>(
    "SELECT rest FROM entity WHERE kind = ? AND living = 1 ORDER BY rest LIMIT ? OFFSET ?",
  );
  const livingFrom = arrays<readonly [rest: string]>(
    "SELECT rest FROM entity WHERE kind = ? AND living = 1 AND rest >= ? ORDER BY rest LIMIT ?",
  );
  const entitiesFrom = arrays<RestRow>(
    "SELECT id, rest FROM entity WHERE kind = ? AND rest >= ? ORDER BY rest LIMIT ?",
  );
  const hasAspect = objects<{ readonly has: number }>(`
    SELECT removed IS NULL AS has FROM aspect_value WHERE entity = ? AND aspect = ?
    ORDER BY version DESC LIMIT 1`);

  return {
    /** A type nearly always has one kind; several kinds are listed one after another. */
    listUrns(entityType: string, page: { readonly start: number; readonly count: number }) {
      const urns: string[] = [];
      let total = 0;
      for (const { id, prefix, living } of kindsOf.all(entityType)) {
        const offset = Math.max(0, page.start - total);
        total += living;
        const missing = page.count - urns.length;
        if (missing <= 0 || offset >= living) continue;
        for (const [rest] of livingOf.all(id, missing, offset)) {
          urns.push(`${prefix}${rest}`);
        }
      }
      return { urns, total };
    },

    urnsAfter(entityType: string, after: string, count: number): readonly string[] {
      const urns: string[] = [];
      for (const { id, prefix } of kindsOf.all(entityType)) {
        const within = after.startsWith(prefix);
        if (!within && after > prefix) continue;
        const from = within ? following(after.slice(prefix.length)) : "";
        for (const [rest] of livingFrom.all(id, from, count - urns.length)) {
          urns.push(`${prefix}${rest}`);
        }
      }
      return urns;
    },

    countEntities(): ReadonlyMap<string, number> {
      return new Map(counts.all().map(({ type, living }) => [type, living]));
    },

    /** One slice of the entities of a kind; `next` is the beginning of the next one. */
    countAspectIn(
      kind: number,
      prefix: string,
      from: string,
      aspect: string,
      pattern: UrnPattern,
    ): { readonly count: number; readonly next: string | undefined } {
      const number = numbers.aspectNumber(aspect);
      if (number === undefined) return { count: 0, next: undefined };
      const rows = entitiesFrom.all(kind, from, URNS_PER_SLICE_MAX);
      let count = 0;
      for (const [id, rest] of rows) {
        const urn = prefix + rest;
        if (!urn.startsWith(pattern.prefix)) return { count, next: undefined };
        if (pattern.matches(urn) && hasAspect.get(id, number)?.has === 1) count++;
      }
      return { count, next: nextFrom(rows, URNS_PER_SLICE_MAX) };
    },
  };
}

/** The beginning of the next slice. */
function nextFrom(rows: readonly (readonly unknown[])[], full: number): string | undefined {
  return rows.length === full ? following(String(rows.at(-1)?.[1])) : undefined;
}

/** The first possible text after a text. */
const following = (text: string): string => `${text}\0`;

type RestRow = readonly [id: number, rest: string];
