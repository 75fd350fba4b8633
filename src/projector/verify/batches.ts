/** What a thread does for a verification: batches of entities, sums over whole views, and their faults. */
import { assert } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/record-codec.ts";
import { parkingNow } from "../parking.ts";
import type { Batch, Summed, Summing, Work } from "./hands.ts";
import { touchedSince } from "./touched.ts";
import { createVerifier, type Verifier } from "./verify-entities.ts";
import { madeOf, type VerifiedView } from "./view-rows.ts";

/** Entities that are left out of sums; beyond, the view is compared entity by entity. */
const leftOutMax = 200_000;

export function createVerifying(log: ChangeLog, views: readonly VerifiedView[]): Work {
  const verifiers = new Map<string, Verifier>();
  function viewOf(name: string): VerifiedView {
    const view = views.find((one) => one.name === name);
    assert(view !== undefined, `the view "${name}" is not open`);
    return view;
  }
  return {
    verify({ views: names, entities, places, compare }: Batch) {
      const key = names.join();
      let verifier = verifiers.get(key);
      if (verifier === undefined) {
        const some = views.filter(({ name }) => names.includes(name));
        verifier = createVerifier({ log, decode: decodeRecord, views: some });
        verifiers.set(key, verifier);
      }
      return verifier.verify(entities, places, { compare });
    },
    async sum(asked: Summing) {
      const view = viewOf(asked.view);
      assert(view.rows.sums !== undefined, `the view "${asked.view}" cannot be summed up`);
      const more = new Set<string>();
      const bearing = new Set<string>();
      const held = await view.rows.sums(async (position) => {
        await leaveOut(log, view, { ...asked, position }, more, bearing);
        return new Set([...asked.leftOut, ...more]);
      });
      if (more.size > leftOutMax) return undefined;
      return { ...held, more: [...more], bearing: bearing.has(view.name) } satisfies Summed;
    },
    faults: async ({ view, deep }) => viewOf(view).rows.faults(deep),
  };
}

/**
 * Entities of whose rows it cannot be said at which position they are true: those that were written
 * after `since`, where the view is compared with what was known there, or shows later states than its
 * position tells; and those that are parked.
 */
async function leaveOut(
  log: ChangeLog,
  view: VerifiedView,
  { since, position }: { readonly since: Position | undefined; readonly position: Position },
  more: Set<string>,
  bearing: Set<string>,
): Promise<void> {
  const from = since ?? (view.foldedFrom === undefined ? undefined : position);
  if (from !== undefined) {
    const touched = await touchedSince(log, from, await log.head(), leftOutMax);
    for (const urn of touched.urns) more.add(urn);
    for (const name of touched.bearing) bearing.add(name);
  }
  for (const name of madeOf(view)) {
    for (const { urn } of (await parkingNow(log, name)).list()) more.add(urn);
  }
}
