/** Rows that a hard delete removes: all changes of the entity up to it. */
import type { PlacedChange } from "../../core/change.ts";
import type { EntityState } from "../../core/entity-state.ts";
import { type Position, type Revision, revision, START } from "../../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import { entityTypeOf } from "../../core/urn.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { changesOf } from "../../log/whole-reads.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream">;
  /** Undefined for a record that no version can read. */
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly keyAspectOf: (entityType: string) => string | undefined;
}

export interface DeletedRows {
  /** True if the change hard-deletes its entity. */
  isHardDelete(change: PlacedChange): boolean;
  /**
   * The changes that a hard delete removes, including itself: those since the previous hard delete,
   * and the events of the given timeseries aspects.
   */
  rowsOf(deletion: PlacedChange, series: Iterable<string>): AsyncIterable<PlacedChange>;
  /** Position of the entity's last hard delete; START if there is none. */
  lastHardDelete(state: EntityState): Promise<Position>;
  /** Number of values that the entity's current aspects have had since its last hard delete. */
  countValues(state: EntityState): Promise<number>;
  /** Version of the aspect's first value after the last hard delete; undefined if there is none. */
  firstVersion(urn: string, aspect: string): Promise<number | undefined>;
}

const PAGE_MAX = 500;

export function createDeletedRows({ log, decode, keyAspectOf }: Dependencies): DeletedRows {
  const isHardDelete = ({ aspect, changeType, entityType, timeseries }: PlacedChange): boolean =>
    changeType === "DELETE" && !timeseries && aspect === keyAspectOf(entityType);

  /**
   * Yields the entity's changes, newest first, back to its previous hard delete; returns that
   * position.
   */
  async function* lifetimeBefore(
    urn: string,
    end: Revision | "end",
  ): AsyncGenerator<PlacedChange, Position> {
    const stream = entityStream(urn);
    let from = end;
    for (;;) {
      const page = await log.readStream(stream, from, { limit: PAGE_MAX, backward: true });
      for (const record of page) {
        const change = readable(decode, record);
        if (change === undefined) continue;
        if (isHardDelete(change)) return change.position;
        yield change;
      }
      const last = page.at(-1)?.revision;
      if (last === undefined || last === 0) return START;
      from = revision(last - 1);
    }
  }

  async function* eventsOf(stream: StreamName, after: Position, before: Position) {
    for await (const change of changesOf(log, decode, stream)) {
      if (change.position >= before) return;
      if (change.position > after) yield change;
    }
  }

  /** The key has a second version only if the entity was created again. */
  const isFirstLifetime = ({ urn, aspects }: EntityState): boolean =>
    (aspects.get(keyAspectOf(entityTypeOf(urn)) ?? "")?.version ?? 0) < 2;

  return {
    isHardDelete,
    async *rowsOf(deletion, series) {
      const { urn, revision: at, position } = deletion;
      yield deletion;
      const before = at === 0 ? START : yield* lifetimeBefore(urn, revision(at - 1));
      for (const aspect of series) {
        yield* eventsOf(timeseriesStream(urn, aspect), before, position);
      }
    },

    async lastHardDelete(state) {
      if (isFirstLifetime(state)) return START;
      const lifetime = lifetimeBefore(state.urn, "end");
      for (;;) {
        const step = await lifetime.next();
        if (step.done === true) return step.value;
      }
    },

    async countValues(state) {
      const first = new Map<string, number>();
      if (!isFirstLifetime(state)) {
        for await (const { aspect, changeType, system } of lifetimeBefore(state.urn, "end")) {
          if (changeType === "UPSERT") first.set(aspect, Number(system.version));
        }
      }
      let count = 0;
      for (const [aspect, { removed, version }] of state.aspects) {
        if (!removed) count += version - (first.get(aspect) ?? 1) + 1;
      }
      return count;
    },

    async firstVersion(urn, aspect) {
      let first: number | undefined;
      for await (const change of lifetimeBefore(urn, "end")) {
        if (change.aspect === aspect && change.changeType === "UPSERT") {
          first = Number(change.system.version);
        }
      }
      return first;
    },
  };
}
