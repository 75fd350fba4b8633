/** Parked records: listed from the log, retried and dropped by the projector. */
import type { Caller } from "../catalog/catalog.ts";
import type { Position } from "../core/position.ts";
import { parseUrn, type UrnLimits, withNamespace } from "../core/urn.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { decodeRecord } from "../log/codecs/record-codec.ts";
import { type Histories, openHistories } from "../projector/history.ts";
import { notParked, type Parked, readOnlyParking } from "../projector/parking/parking.ts";
import type { Unrestored } from "../projector/parking/restore.ts";
import type { Progress, Restoration } from "../projector/thread/progress.ts";
import type { ParkedEntity, ParkedQuery } from "./operations.ts";
import { noSuchView } from "./unknown-view.ts";

/** Maximum count of records that wait behind a parked one. */
const waitingMax = 1_000;

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream" | "listStreams" | "head" | "checkIndexes">;
  readonly projector: Pick<Progress, "positions"> & Pick<Restoration, "restore" | "drop">;
  readonly names: { readonly namespace: string; readonly urnLimits: UrnLimits };
  /** Maximum age of the check of the log's indexes, in milliseconds. */
  readonly maxCheckAgeMs: number;
}

export function createParkedOperations({ log, projector, names, maxCheckAgeMs }: Dependencies) {
  async function parkedIn(view: string): Promise<readonly Parked[]> {
    return (await readOnlyParking(log, view)).list();
  }

  async function all(view: string | undefined): Promise<readonly Parked[]> {
    const views = Object.keys(projector.positions());
    if (view !== undefined && !views.includes(view)) throw noSuchView(view, views);
    const found = await Promise.all((view === undefined ? views : [view]).map(parkedIn));
    return found.flat().sort((a, b) => a.position - b.position);
  }

  async function one({ view, urn: text }: ParkedQuery): Promise<Parked> {
    const urn = withNamespace(text, names.namespace);
    const found = (await all(view)).find((parked) => parked.urn === urn);
    if (found !== undefined) return found;
    // Checked last: a urn may have been parked under other limits.
    parseUrn(urn, names.urnLimits);
    throw notParked(view, urn);
  }

  /** The entity as it is parked afterwards; undefined if the view has all of it. */
  async function after({ view, urn }: ParkedQuery, work: Promise<readonly Unrestored[]>) {
    // Views that are folded from this one are restored with it, and may park it for other reasons.
    const unrestored = (await work).find((one) => one.view === view);
    const left = (await parkedIn(view)).find((one) => one.urn === urn);
    if (left === undefined) return undefined;
    const histories = await openHistories(log, decodeRecord);
    const { reason } = unrestored ?? left;
    return { ...(await entityOf(left, histories)), reason };
  }

  async function entityOf(parked: Parked, histories: Histories): Promise<ParkedEntity> {
    const { view, urn, position, reason, time } = parked;
    // No record waits behind a parked value: the document has later changes of the entity.
    const isValue = parked.aspect !== undefined;
    const waiting = isValue ? 0 : await countFrom(parked, histories, await log.head());
    return { view, urn, position, reason, time, waiting };
  }

  return {
    async listParked({
      view,
      start,
      count,
    }: {
      readonly view?: string | undefined;
      readonly start: number;
      readonly count: number;
    }) {
      const found = await all(view);
      const histories = await openHistories(log, decodeRecord);
      const entities: ParkedEntity[] = [];
      for (const parked of found.slice(start, start + count)) {
        entities.push(await entityOf(parked, histories));
      }
      return { total: found.length, entities };
    },
    async retryParked(query: ParkedQuery) {
      const { urn, view } = await one(query);
      await log.checkIndexes?.({ maxAgeMs: maxCheckAgeMs });
      return after({ view, urn }, projector.restore([urn], view));
    },
    async dropParked(query: ParkedQuery, { actor }: Caller) {
      const { urn, view } = await one(query);
      await log.checkIndexes?.({ maxAgeMs: maxCheckAgeMs });
      return after({ view, urn }, projector.drop(urn, view, actor));
    },
  };
}

async function countFrom(
  { urn, position }: Parked,
  histories: Histories,
  head: Position,
): Promise<number> {
  let count = 0;
  try {
    for await (const change of histories.changes(urn, head)) {
      if (change.position > position) count++;
      if (count === waitingMax) break;
    }
  } catch {
    // Counting ends at a record that cannot be decoded.
  }
  return count;
}
