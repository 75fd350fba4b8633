/** Appends the decisions of a request to the log, and finds the appends of a repeated request. */
import { lastOf, type Position } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import type { Append, Appended, ChangeLog } from "../../log/change-log.ts";
import type { Written } from "../catalog.ts";
import type { EntityDecision } from "./decide-request.ts";
import type { EntityCache } from "./entity-cache.ts";
import { appendId } from "./idempotency.ts";
import { streamsOf, type WriteRequest } from "./write-request.ts";

export interface RequestAppendsParts {
  readonly log: ChangeLog;
  /** True if other processes write to the log, too. Appends of one call are then not atomic. */
  readonly sharedLog: boolean;
  readonly states: EntityCache;
  /** The last acknowledged position. */
  readonly acknowledged: () => Position;
  /** Wakes the projector and records the position that each view has to reach. */
  readonly onAppended: (position: Position, of: { readonly timeseries: boolean }) => void;
}

interface RequestAppends {
  /**
   * Resolves when the log has all appends. Must be called synchronously after the
   * decision; the states include it from then on. Throws WrongRevision if another writer was first.
   */
  append(decided: readonly EntityDecision[], key: string | undefined): Promise<Written>;
  /**
   * The appends of an earlier request with the same key. If calls are not atomic, these may be a
   * part of the request: the rest is written now, and appended parts are not decided again.
   */
  earlier(
    writeRequests: readonly WriteRequest[],
    key: string,
  ): Promise<ReadonlyMap<StreamName, Appended>>;
}

export function createAppendRequest(parts: RequestAppendsParts): RequestAppends {
  const { log, states } = parts;

  async function append(
    decided: readonly EntityDecision[],
    key: string | undefined,
  ): Promise<Written> {
    const appends = decided.flatMap((one) => one.appends);
    if (appends.length === 0) return { position: parts.acknowledged() };
    const { first, all } = appendInOrder(appends);
    const changed = decided.filter((one) => one.next !== one.entry.state);
    if (changed.length > 0) states.decided(changed, positionsOf(decided, changed, all), first);
    const appended = await all;
    if (key !== undefined && appended.some((one) => one.repeated)) {
      states.evict(changed.map((one) => one.entry.urn));
    }
    const position = lastOf(appended);
    parts.onAppended(position, { timeseries: decided.some((one) => one.timeseries) });
    return { position };
  }

  /**
   * Events expect no revision. If a call is not atomic, they are appended after all appends that may
   * lose a race: a repeated decision must not append them twice. `first` is the log's own promise for
   * the appends that may lose a race, `all` the promise for all appends.
   */
  function appendInOrder(appends: readonly Append[]) {
    const unconditional = appends.filter(({ expected }) => expected === "any");
    if (!parts.sharedLog || unconditional.length === 0 || unconditional.length === appends.length) {
      const all = log.append(appends);
      return { first: all, all };
    }
    const first = log.append(appends.filter(({ expected }) => expected !== "any"));
    const all = first.then(async (answered) => {
      const answers = {
        first: answered.values(),
        rest: (await log.append(unconditional)).values(),
      };
      return appends.map(
        ({ expected }) => answers[expected === "any" ? "rest" : "first"].next().value as Appended,
      );
    });
    return { first, all };
  }

  async function earlier(
    writeRequests: readonly WriteRequest[],
    key: string,
  ): Promise<ReadonlyMap<StreamName, Appended>> {
    const streams = writeRequests.flatMap(streamsOf);
    const found = await Promise.all(
      streams.map((stream) => log.findAppend(stream, appendId(key, stream) as Uint8Array)),
    );
    return new Map(
      streams.flatMap((stream, n) => {
        const one = found[n];
        return one === undefined ? [] : [[stream, one] as const];
      }),
    );
  }

  return { append, earlier };
}

/** The last position of each changed entity, from the results of all appends. */
async function positionsOf(
  decided: readonly EntityDecision[],
  changed: readonly EntityDecision[],
  appending: Promise<readonly Appended[]>,
): Promise<readonly Position[]> {
  const appended = await appending;
  const byEntity = new Map<EntityDecision, Position>();
  let i = 0;
  for (const one of decided) {
    const own = appended[i];
    if (own !== undefined && one.appends.length > 0) byEntity.set(one, own.position);
    i += one.appends.length;
  }
  return changed.map((one) => byEntity.get(one) as Position);
}
