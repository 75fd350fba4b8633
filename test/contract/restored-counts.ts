/** Counts of entities that were damaged are right again after the entities are restored. */
import fc from "fast-check";
import { expect } from "vitest";
import { position } from "../../src/core/position.ts";
import type { AspectSink } from "../../src/views/aspects/aspect-table.ts";
import { aspectHistories } from "./aspect-table-model.ts";

interface Place {
  openSink(): Promise<AspectSink>;
  ask(query: string): Promise<readonly unknown[]>;
  change(statements: string): Promise<void>;
}

/**
 * `counts` and `entities`: ordered queries for the existing entities by kind, and for all entities.
 */
export async function expectRestoredCounts(
  place: Place,
  { damage, counts, entities }: Record<"damage" | "counts" | "entities", string>,
): Promise<void> {
  const sink = await place.openSink();
  const [history = []] = fc.sample(aspectHistories(150, 150), { numRuns: 1, seed: 3 });
  await sink.apply(history, history.at(-1)?.position ?? position(0));
  const before = [await place.ask(counts), await place.ask(entities)];
  await place.change(damage);
  for (const urn of [...new Set(history.map((write) => write.urn)), "urn:li:tag:ghost"]) {
    await sink.restore(
      urn,
      history.filter((write) => write.urn === urn),
    );
  }
  expect([await place.ask(counts), await place.ask(entities)]).toEqual(before);
  await sink.restore(history[0]?.urn ?? "", []);
  expect(await place.ask(entities)).toHaveLength((before[1]?.length ?? 0) - 1);
  await sink.close();
}
