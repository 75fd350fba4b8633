/**
 * What the log says there is in views, summed up before they are there: while they are being grown
 * another core may have nothing to do. They are compared as views are that were verified at that
 * position before (verification.ts, "whole").
 */
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/record-codec.ts";
import type { HistoryLog } from "../history.ts";
import { workedMs } from "../thread-ms.ts";
import { entitiesOf } from "./log-entities.ts";
import { addSums, noSums } from "./row-sums.ts";
import { batchMax } from "./running.ts";
import type { Remembered } from "./verified-state.ts";
import { createVerifier } from "./verify-entities.ts";
import type { FoldedView } from "./view-rows.ts";

/** By view; without those of which some entity could not be folded. */
export async function foldAhead(
  log: HistoryLog & Pick<ChangeLog, "head">,
  views: readonly FoldedView[],
  options: {
    /** Called between batches with the milliseconds that it worked (thread-ms.ts). */
    readonly rest?: ((ms: number, hands: number) => Promise<void>) | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Readonly<Record<string, Remembered>>> {
  const { rest, signal } = options;
  const position = await log.head();
  const verifier = createVerifier({ log, decode: decodeRecord, views });
  const names = views.map(({ name }) => name);
  const places = Object.fromEntries(names.map((name) => [name, [position]]));
  const sums = Object.fromEntries(names.map((name) => [name, { rows: 0, sums: noSums() }]));
  const unfolded = new Set<string>();
  let before = workedMs();
  for await (const entities of entitiesOf(log, batchMax.folded)) {
    signal?.throwIfAborted();
    const done = await verifier.verify(entities, places, { compare: false });
    for (const [name, sum] of Object.entries(sums)) {
      const more = done.told[name]?.[0];
      if (more === undefined) continue;
      sum.rows += more.rows;
      addSums(sum.sums, more.sums);
    }
    for (const [name] of done.unfolded) unfolded.add(name);
    await rest?.(workedMs() - before, 1);
    before = workedMs();
  }
  const time = Date.now();
  const found = { position, time, full: undefined, whole: undefined, count: 0, urns: [] };
  return Object.fromEntries(
    names
      .filter((name) => !unfolded.has(name))
      .map((view) => [
        view,
        { view, ...found, ...(sums[view] as (typeof sums)[string]), complete: true },
      ]),
  );
}
