/**
 * The aspect table in its simplest form, to hold a real one against, and histories of writes such
 * as the projection makes them.
 */
import fc from "fast-check";
import { type AspectState, type EntityState, unknownEntity } from "../../src/core/entity-state.ts";
import { type Position, position, type Revision, revision } from "../../src/core/position.ts";
import type { AspectWrite, StoredValue } from "../../src/views/aspects/aspect-table.ts";
import type { AspectRow } from "../support/dumped-readers.ts";

/** Urns that engines, patterns and objects trip over. */
export const urns: readonly string[] = [
  "urn:li:corpuser:ada",
  "urn:li:corpuser:Ada",
  "urn:li:corpuser:ad",
  "urn:li:corpuser:áda",
  "urn:li:corpuser:\u{1D49C}da",
  "urn:li:corpuser:\uFF5Eda",
  "urn:li:corpuser:a b",
  "urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,a'b\"c;--,PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,100%_sure\\,PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,a*b?[c],PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,a%2Cb#c,PROD)",
  "urn:li:tag:__proto__",
  "urn:li:tag:constructor",
  `urn:li:tag:${"long".repeat(120)}`,
];

export const typeOf = (urn: string): string => urn.split(":")[2] ?? "";
export const keyOf = (urn: string): string => `${typeOf(urn)}Key`;

const aspects: readonly string[] = ["status", "ownership", "toString"];

interface Step {
  readonly urn: string;
  readonly aspect: string | undefined;
  readonly kind: "value" | "confirm" | "remove" | "remove_entity";
  /** Records in between that are none of the table's. */
  readonly gap: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  urn: fc.constantFrom(...urns),
  aspect: fc.constantFrom(undefined, ...aspects),
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant("value" as const) },
    { weight: 2, arbitrary: fc.constant("confirm" as const) },
    { weight: 2, arbitrary: fc.constant("remove" as const) },
    { weight: 1, arbitrary: fc.constant("remove_entity" as const) },
  ),
  gap: fc.integer({ min: 0, max: 2 }),
});

/** Writes of a log of so many records in which every change was decided on what was there. */
export const aspectHistories = (
  minLength: number,
  maxLength: number,
): fc.Arbitrary<readonly AspectWrite[]> =>
  fc.array(step, { minLength, maxLength, size: "max" }).map((steps) => {
    const model = createAspectModel();
    const writes: AspectWrite[] = [];
    let last = 0;
    for (const step of steps) {
      last += 1 + step.gap;
      const write = writeOf(step, model, position(last));
      if (write === undefined) continue;
      model.apply(write);
      writes.push(write);
    }
    return writes;
  });

/** The write, if it can follow on what the model has. */
function writeOf(step: Step, model: AspectModel, at: Position): AspectWrite | undefined {
  const { urn, kind } = step;
  const key = keyOf(urn);
  const state = model.getEntity(urn);
  const aspect = kind === "remove_entity" ? key : (step.aspect ?? key);
  const place = { urn, aspect, position: at, revision: revision(state.revision + 1) };
  const current = state.aspects.get(aspect);
  if (kind === "value") {
    const version = (current?.version ?? 0) + 1;
    return {
      op: "value",
      ...place,
      ...contentOf(at, version),
      key: aspect === key,
      entityType: typeOf(urn),
    };
  }
  if (current === undefined || current.removed) return undefined;
  if (kind === "confirm") {
    return {
      op: "confirm",
      ...place,
      version: current.version,
      system: systemOf(at, current.version),
    };
  }
  return { op: aspect === key ? "remove_entity" : "remove", ...place };
}

const contentOf = (at: Position, version: number) => ({
  version,
  value: JSON.stringify({ at, text: "☃ \u{1F3D4} 'quoted\" \\ % _ \u0000" }),
  time: 1_700_000_000_000 + at,
  actor: `urn:li:corpuser:writer ${at % 3}`,
  system: systemOf(at, version),
});

const systemOf = (at: Position, version: number): string =>
  JSON.stringify({ lastObserved: at, runId: `run-${at % 5}`, version: String(version) });

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface AspectModel {
  apply(write: AspectWrite): void;
  getEntity(urn: string): EntityState;
  findValue(urn: string, aspect: string, version: number): StoredValue | undefined;
  /** Urns of existing entities in byte order. */
  listUrns(entityType: string): readonly string[];
  /** Urns that have the aspect now. */
  having(aspect: string): readonly string[];
  rows(): readonly AspectRow[];
}

export function createAspectModel(): AspectModel {
  const rows: Mutable<AspectRow>[] = [];
  const revisions = new Map<string, Revision>();
  const existing = new Set<string>();

  const of = (urn: string, aspect?: string) =>
    rows.filter((row) => row.urn === urn && (aspect === undefined || row.aspect === aspect));
  const newest = (urn: string, aspect: string) =>
    of(urn, aspect).reduce<Mutable<AspectRow> | undefined>(
      (best, row) => (row.version > (best?.version ?? 0) ? row : best),
      undefined,
    );
  const aspectsOf = (urn: string) => new Set(of(urn).map(({ aspect }) => aspect));

  function apply(write: AspectWrite): void {
    const { urn, aspect } = write;
    revisions.set(urn, write.revision);
    switch (write.op) {
      case "value": {
        const { version, value, time, actor, system, key, position, revision } = write;
        if (key) existing.add(urn);
        rows.push({
          ...{ urn, aspect, version, value, time, actor, system, position, revision },
          ...{ confirmed: undefined, removed: undefined, exists: false },
        });
        return;
      }
      case "confirm": {
        const row = of(urn, aspect).find(({ version }) => version === write.version);
        if (row === undefined) return;
        row.system = write.system;
        row.confirmed = write.position;
        row.revision = write.revision;
        return;
      }
      case "remove":
        remove(urn, aspect, write.position);
        return;
      case "remove_entity":
        existing.delete(urn);
        for (const name of aspectsOf(urn)) remove(urn, name, write.position);
    }
  }

  function remove(urn: string, aspect: string, at: Position): void {
    const row = newest(urn, aspect);
    if (row !== undefined) row.removed ??= at;
  }

  function getEntity(urn: string): EntityState {
    const last = revisions.get(urn);
    if (last === undefined) return unknownEntity(urn);
    const states = new Map<string, AspectState>();
    for (const name of aspectsOf(urn)) {
      const row = newest(urn, name);
      if (row === undefined) continue;
      const { version, value, time, actor } = row;
      const removed = row.removed !== undefined;
      states.set(name, {
        name,
        version,
        value,
        time,
        actor,
        system: JSON.parse(row.system),
        removed,
      });
    }
    return { urn, revision: last, aspects: states };
  }

  return {
    apply,
    getEntity,
    findValue(urn, aspect, wanted) {
      const row = of(urn, aspect).find(({ version }) => version === wanted);
      if (row === undefined) return undefined;
      const { version, value, time, actor, system } = row;
      return { version, value, time, actor, system };
    },
    listUrns: (entityType) =>
      [...existing].filter((urn) => typeOf(urn) === entityType).sort(byteOrder),
    having: (aspect) =>
      [...revisions.keys()].filter((urn) => {
        const row = newest(urn, aspect);
        return row !== undefined && row.removed === undefined;
      }),
    rows: () =>
      rows
        .map((row) => ({ ...row, exists: existing.has(row.urn) }))
        .sort(
          (a, b) =>
            byteOrder(a.urn, b.urn) || byteOrder(a.aspect, b.aspect) || a.version - b.version,
        ),
  };
}

export const byteOrder = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));
