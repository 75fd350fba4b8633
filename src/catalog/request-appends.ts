/** The appends of a request: what was decided goes to the log, and is found there again. */
import { lastOf, type Position } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";
import type { Append, Appended, ChangeLog } from "../log/change-log.ts";
import { appendId } from "./append-ids.ts";
import type { Written } from "./catalog.ts";
import type { EntityDecision } from "./demand-decider.ts";
import { streamsOf, type WriteRequest } from "./demands.ts";
import type { EntityStates } from "./entity-states.ts";

export interface RequestAppendsParts {
  readonly log: ChangeLog;
  /** Other processes write to the log, too; and of a call's appends only some may be in the log. */
  readonly sharedLog: boolean;
  readonly states: EntityStates;
  /** The last position that any write was answered with. */
  readonly answered: () => Position;
  /** Wakes the projector, and remembers how far each view has to come. */
  readonly onAppended: (position: Position, of: { readonly timeseries: boolean }) => void;
}

interface RequestAppends {
  /**
   * Resolves when the log has all. Called in the turn in which it was decided; the states show it
   * from then on. Throws WrongRevision where another writer was first.
   */
  append(decided: readonly EntityDecision[], key: string | undefined): Promise<Written>;
  /**
   * What a request whose key was seen before wrote then. Where a call is not one whole, that may be
   * a part of it: the rest is written now, and what is there is not decided again.
   */
  earlier(
    writeRequests: readonly WriteRequest[],
    key: string,
  ): Promise<ReadonlyMap<StreamName, Appended>>;
}

export function createRequestAppends(parts: RequestAppendsParts): RequestAppends {
  const { log, states } = parts;

  async function append(
    decided: readonly EntityDecision[],
    key: string | undefined,
  ): Promise<Written> {
    const appends = decided.flatMap((one) => one.appends);
    if (appends.length === 0) return { position: parts.answered() };
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
    const sure = appends.filter(({ expected }) => expected === "any");
    if (!parts.sharedLog || sure.length === 0 || sure.length === appends.length) {
      const all = log.append(appends);
      return { first: all, all };
    }
    const first = log.append(appends.filter(({ expected }) => expected !== "any"));
    const all = first.then(async (answered) => {
      const answers = { first: answered.values(), rest: (await log.append(sure)).values() };
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

/** The last position of each changed entity, from the answers to all appends. */
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
