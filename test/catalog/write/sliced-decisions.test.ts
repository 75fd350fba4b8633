/** Decisions in slices use the newest states, like decisions made in one step. */
import { expect, test } from "vitest";
import type { EntityDecision, RequestTerms } from "../../../src/catalog/write/decide-request.ts";
import type { Entry } from "../../../src/catalog/write/entity-cache.ts";
import { decideInSlices } from "../../../src/catalog/write/sliced-decisions.ts";
import type { WriteRequest } from "../../../src/catalog/write/write-request.ts";
import { CatalogError } from "../../../src/core/errors.ts";
import { revision, START } from "../../../src/core/position.ts";
import { defaultModel } from "../../model/default-model.ts";

const entity = defaultModel.entities.get("tag");
if (entity === undefined) throw new Error("the model has tags");
const tag = entity;

const stateOf = (urn: string, at: number) => ({
  urn,
  revision: revision(at),
  aspects: new Map(),
});

const entryOf = (urn: string, at: number): Entry => ({
  urn,
  state: stateOf(urn, at),
  appending: undefined,
  position: START,
});

/** A request with this many write requests on entities at revision 1; `meanwhile` runs in each pause. */
function request(count: number, meanwhile: (decidedSoFar: number) => void) {
  const writeRequests = Array.from({ length: count }, (_, n): WriteRequest => {
    return { urn: `urn:li:tag:${n}`, entity: tag, commands: [], events: [] };
  });
  const entries = new Map(writeRequests.map(({ urn }) => [urn, entryOf(urn, 1)]));
  const rejected = new Set<string>();
  let made = 0;
  const decideRequested = ({ urn }: WriteRequest, entry: Entry): EntityDecision => {
    made++;
    if (rejected.has(urn)) throw new CatalogError("invalid", `${urn} is rejected`);
    const next = stateOf(urn, (entry.state?.revision ?? 0) + 1);
    return { entry, next, appends: [], timeseries: false, hasChanges: true };
  };
  const find = (urn: string) => {
    const entry = entries.get(urn);
    return entry?.state === undefined ? undefined : entry;
  };
  return {
    entries,
    rejected,
    made: () => made,
    decide: () =>
      decideInSlices(writeRequests, terms, {
        states: { find, load: async (urns) => urns.map((urn) => entries.get(urn) as Entry) },
        decider: { platformsOf: () => [], decideRequested },
        acquireSlot: async () => {},
        pause: async () => meanwhile(made),
      }),
  };
}

const terms: Omit<RequestTerms, "delimiterOf"> = {
  stamp: { time: 0, actor: "urn:li:corpuser:mira" },
  key: undefined,
  streamEnds: new Map(),
};

const revisions = (decided: unknown): readonly number[] =>
  (decided as readonly EntityDecision[]).map(({ next }) => next.revision);

test("a decision whose entity was written meanwhile is repeated", async () => {
  const asked = request(450, (made) => {
    const entry = asked.entries.get("urn:li:tag:7");
    if (made === 300 && entry !== undefined) entry.state = stateOf(entry.urn, 5);
  });
  const lastStep = await asked.decide();
  const expected = Array.from({ length: 450 }, (_, n) => (n === 7 ? 6 : 2));
  expect(revisions(lastStep())).toEqual(expected);
  expect(asked.made()).toBe(451);
});

test("a single decision does not pause, however long its entity took to load", async () => {
  const pauses: number[] = [];
  await request(1, (made) => pauses.push(made)).decide();
  expect(pauses).toEqual([]);
});

test("a write between the slices and the last step is respected", async () => {
  const asked = request(3, () => {});
  const lastStep = await asked.decide();
  const entry = asked.entries.get("urn:li:tag:1") as Entry;
  entry.state = stateOf(entry.urn, 9);
  expect(revisions(lastStep())).toEqual([2, 10, 2]);
});

test("an entity that was evicted and loaded again keeps its decision, in the new entry", async () => {
  const asked = request(3, () => {});
  const lastStep = await asked.decide();
  const again = entryOf("urn:li:tag:1", 1);
  asked.entries.set(again.urn, again);
  const decided = lastStep() as readonly EntityDecision[];
  expect(decided[1]?.entry).toBe(again);
  expect(asked.made()).toBe(3);
});

test("an entity that was loaded again with an append in flight is decided again", async () => {
  const asked = request(3, () => {});
  const lastStep = await asked.decide();
  const again = entryOf("urn:li:tag:1", 1);
  again.appending = Promise.resolve();
  asked.entries.set(again.urn, again);
  lastStep();
  expect(asked.made()).toBe(4);
});

test("a failed append of another request makes the last step load the entities again", async () => {
  const asked = request(3, () => {});
  const lastStep = await asked.decide();
  (asked.entries.get("urn:li:tag:1") as Entry).state = undefined;
  expect(lastStep()).toBeUndefined();
});

test("the first rejected decision is the result", async () => {
  const asked = request(450, () => {});
  asked.rejected.add("urn:li:tag:210").add("urn:li:tag:220");
  const decided = (await asked.decide())();
  expect(decided).toMatchObject({ entry: { urn: "urn:li:tag:210" } });
  expect(asked.made()).toBe(211);
});

test("a request whose entities change all the time is decided eventually", async () => {
  const asked = request(450, () => {
    for (const entry of asked.entries.values()) {
      entry.state = stateOf(entry.urn, (entry.state?.revision ?? 0) + 1);
    }
  });
  const lastStep = await asked.decide();
  const decided = lastStep() as readonly EntityDecision[];
  for (const { entry, next } of decided) {
    expect(next.revision).toBe((entry.state?.revision ?? 0) + 1);
  }
});
