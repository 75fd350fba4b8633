/**
 * The changes of the log for those who follow them: a page at a time, or as they happen.
 *
 * What is asked for is looked for in the log itself, in its order, so that a reader who goes on after
 * the last position misses nothing and is told nothing twice. A record that cannot be read is never
 * passed over: what lies before it is told, and who goes on from there is refused with its position.
 */
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { isNews, type PlacedChange } from "../core/change.ts";
import { CatalogError, isUnreadable } from "../core/errors.ts";
import { lastOf, type Position, START } from "../core/position.ts";
import { parseStream } from "../core/stream.ts";
import { toldNumber } from "../core/told-number.ts";
import { entityTypeOf } from "../core/urn.ts";
import { fillPrevious, type ValueHistory } from "../feed/previous-values.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import type { Model } from "../model/model.ts";
import { type Addresses, unknownEntityType } from "./address.ts";
import { type Catalog, type ChangesFilter, changesMax, type ToldChange } from "./catalog.ts";
import { unknownAspect } from "./unknown-aspect.ts";

type Changes = Pick<Catalog, "readChanges" | "followChanges">;

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "tail" | "head">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly addresses: Addresses;
  readonly model: Model;
  readonly history: ValueHistory;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
}

const limitDefault = 100;
/** Records that one page looks at, however few of them it is asked for. */
const lookedAtMax = 50_000;
/** Of the values of one page, which is whole in memory. */
const pageBytesMax = 8 * 1024 * 1024;
/** Records that are read at once: what others wait for meanwhile is some milliseconds. */
const readMax = 500;
/** How long a follower waits for a view that is away before it looks again. */
const retryMs = 1_000;

export function createChanges(dependencies: Dependencies): Changes {
  const { log, addresses, model, history, reached } = dependencies;

  /** Gives the change of a record that is asked for. */
  function createSieve(filter: ChangesFilter): (record: LogRecord) => PlacedChange | undefined {
    const urns = setOf(filter.urns?.map((urn) => addresses.known(urn).urn));
    const types = setOf(filter.entityTypes?.map(entityType));
    const aspects = setOf(filter.aspects?.map(aspect));
    return (record) => {
      // Most of what is not asked for is known by its stream's name.
      const of = parseStream(record.stream);
      if (of === undefined || of.kind === "truncation") return undefined;
      if (urns?.has(of.urn) === false || types?.has(entityTypeOf(of.urn)) === false)
        return undefined;
      if (of.kind === "timeseries" && aspects?.has(of.aspect) === false) return undefined;
      const change = decode(record);
      if (change === undefined || !isNews(change)) return undefined;
      return aspects?.has(change.aspect) === false ? undefined : change;
    };
  }

  function decode(record: LogRecord): PlacedChange | undefined {
    try {
      return dependencies.decode(record);
    } catch (error) {
      throw isUnreadable(error) ? notPassed(error, record.position) : error;
    }
  }

  function entityType(name: string): string {
    const entity = model.findEntity(name);
    if (entity === undefined) throw unknownEntityType(model, name, "invalid");
    return entity.name;
  }

  function aspect(name: string): string {
    if (model.aspects.has(name)) return name;
    throw unknownAspect(model, name);
  }

  async function known(after: Position): Promise<Position> {
    const head = await log.head();
    if (after <= head) return after;
    throw new CatalogError(
      "invalid",
      `position ${after} is not in the log, which ends at ${head}`,
      {
        hint: "It may be of another log: read what there is anew, then follow from now on",
      },
    );
  }

  async function told(
    changes: readonly PlacedChange[],
    previous: boolean | undefined,
  ): Promise<readonly ToldChange[]> {
    const events = changes.map((change) => ({ change }));
    if (previous !== true || changes.length === 0) return events;
    await reached(lastOf(changes));
    return fillPrevious(events, history, "the feed");
  }

  return {
    async readChanges({ after = START, limit = limitDefault, ...filter }) {
      if (!(limit >= 1 && limit <= changesMax)) {
        throw new CatalogError("malformed", `limit is ${toldNumber(limit)}`, {
          hint: `Send 1 to ${changesMax}`,
        });
      }
      const sieve = createSieve(filter);
      let position = await known(after);
      const changes: PlacedChange[] = [];
      let lookedAt = 0;
      let bytes = 0;
      const full = () =>
        changes.length >= limit || bytes >= pageBytesMax || lookedAt >= lookedAtMax;
      try {
        while (!full()) {
          const page = await log.readAll(position, { limit: readMax });
          if (page.length === 0) break;
          for (const record of page) {
            const change = sieve(record);
            position = record.position;
            lookedAt++;
            if (change === undefined) continue;
            changes.push(change);
            bytes += change.value?.length ?? 0;
            if (changes.length === limit || bytes >= pageBytesMax) break;
          }
          await turn();
        }
      } catch (error) {
        // The next page begins with it.
        if (!isUnreadable(error) || position === after) throw error;
      }
      const end = position >= (await log.head());
      return { changes: await told(changes, filter.previous), position, end };
    },

    async followChanges({ after, ...filter }, signal) {
      const sieve = createSieve(filter);
      const from = after === undefined ? await log.head() : await known(after);
      // Before there is an answer: who comes again where a feed ended is told why.
      const [next] = await log.readAll(from, { limit: 1 });
      if (next !== undefined) sieve(next);

      async function whenThere(changes: readonly PlacedChange[]): Promise<readonly ToldChange[]> {
        for (;;) {
          try {
            return await told(changes, filter.previous);
          } catch (error) {
            const away = error instanceof CatalogError && error.code === "unavailable";
            if (!away || signal.aborted) throw error;
            await pause(retryMs, undefined, { signal });
          }
        }
      }

      async function* follow() {
        yield { changes: [], position: from };
        for await (const page of log.tail(from, signal)) {
          for (let start = 0; start < page.length; start += readMax) {
            const { changes, upTo, fault } = sift(page.slice(start, start + readMax), sieve);
            if (upTo !== undefined) yield { changes: await whenThere(changes), position: upTo };
            if (fault !== undefined) throw fault;
            await turn();
          }
        }
      }
      return follow();
    },
  };
}

/** The changes among the records up to one that cannot be read. */
function sift(
  records: readonly LogRecord[],
  sieve: (record: LogRecord) => PlacedChange | undefined,
) {
  const changes: PlacedChange[] = [];
  let upTo: Position | undefined;
  try {
    for (const record of records) {
      const change = sieve(record);
      if (change !== undefined) changes.push(change);
      upTo = record.position;
    }
  } catch (fault) {
    if (!isUnreadable(fault)) throw fault;
    return { changes, upTo, fault };
  }
  return { changes, upTo, fault: undefined };
}

const notPassed = (error: CatalogError, at: Position): CatalogError =>
  new CatalogError("unreadable", error.message, {
    hint: `${error.hint === undefined ? "" : `${error.hint}. `}Who can do without it goes on after ${at}`,
    cause: error,
  });

const setOf = (names: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  names === undefined ? undefined : new Set(names);
