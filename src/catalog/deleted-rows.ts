/** What goes with an entity when it is deleted for good: all that was told of it until then. */
import type { PlacedChange } from "../core/change.ts";
import type { EntityState } from "../core/entity-state.ts";
import { type Position, type Revision, revision, START } from "../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import { entityTypeOf } from "../core/urn.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import { readable } from "../log/readable.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream">;
  /** Undefined for a record that no release can read. */
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly keyAspectOf: (entityType: string) => string | undefined;
}

export interface DeletedRows {
  /** Whether a change deletes its entity for good. */
  isDeath(change: PlacedChange): boolean;
  /**
   * The changes that one takes away, itself among them: those since the entity was deleted before, if it
   * was, and events of the named timeseries aspects.
   */
  rowsOf(death: PlacedChange, series: Iterable<string>): AsyncIterable<PlacedChange>;
  /** Where an entity, as it is now, was last deleted for good; START for never. */
  lastDeath(state: EntityState): Promise<Position>;
  /** The number of the first value that an aspect was told since then; undefined: it was told none. */
  firstVersion(urn: string, aspect: string): Promise<number | undefined>;
}

const PAGE_MAX = 500;

export function createDeletedRows({ log, decode, keyAspectOf }: Dependencies): DeletedRows {
  const isDeath = ({ aspect, changeType, entityType, timeseries }: PlacedChange): boolean =>
    changeType === "DELETE" && !timeseries && aspect === keyAspectOf(entityType);

  /** What was told of an entity back to where it was deleted; returns that. */
  async function* lifeBefore(
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
        if (isDeath(change)) return change.position;
        yield change;
      }
      const last = page.at(-1)?.revision;
      if (last === undefined || last === 0) return START;
      from = revision(last - 1);
    }
  }

  async function* eventsOf(stream: StreamName, after: Position, before: Position) {
    let from: Revision = revision(0);
    for (;;) {
      const page = await log.readStream(stream, from, { limit: PAGE_MAX });
      for (const record of page) {
        if (record.position >= before) return;
        const change = record.position > after ? readable(decode, record) : undefined;
        if (change !== undefined) yield change;
      }
      const last = page.at(-1)?.revision;
      if (last === undefined) return;
      from = revision(last + 1);
    }
  }

  return {
    isDeath,
    async *rowsOf(death, series) {
      const { urn, revision: at, position } = death;
      yield death;
      const before = at === 0 ? START : yield* lifeBefore(urn, revision(at - 1));
      for (const aspect of series) {
        yield* eventsOf(timeseriesStream(urn, aspect), before, position);
      }
    },

    async lastDeath({ urn, aspects }) {
      const key = aspects.get(keyAspectOf(entityTypeOf(urn)) ?? "");
      // A key has another version only where its entity came to be once more.
      if (key === undefined || key.version < 2) return START;
      const life = lifeBefore(urn, "end");
      for (;;) {
        const step = await life.next();
        if (step.done === true) return step.value;
      }
    },

    async firstVersion(urn, aspect) {
      let first: number | undefined;
      for await (const change of lifeBefore(urn, "end")) {
        if (change.aspect === aspect && change.changeType === "UPSERT") {
          first = Number(change.system.version);
        }
      }
      return first;
    },
  };
}
