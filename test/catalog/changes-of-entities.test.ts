/** GET /changes?urn=… against the changes that a scan of the whole log finds. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { dataset, writeHistory } from "../support/random-history.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const entities = 4;
let service: RunningService;
let all: readonly Change[];

interface Change {
  readonly entityUrn: string;
  readonly aspectName: string;
  readonly position: number;
}

beforeAll(async () => {
  service = await runningService();
  await writeHistory(service, 300, entities);
  all = await changesOf("");
}, 120_000);
afterAll(() => service[Symbol.asyncDispose]());

/** All pages of a query. */
async function changesOf(query: string): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (let after = 0; ; ) {
    const { body } = await service.client.get(`/changes?after=${after}&limit=17${query}`);
    changes.push(...body.changes);
    if (body.end) return changes;
    after = body.position;
  }
}

const urns = Array.from({ length: entities }, (_, n) => dataset(n));
const urnsOf = (some: readonly string[]) =>
  some.map((urn) => `&urn=${encodeURIComponent(urn)}`).join("");

test("the changes of each entity equal those of a scan", async () => {
  expect(all.length).toBeGreaterThan(150);
  for (const urn of urns) {
    const expected = all.filter(({ entityUrn }) => entityUrn === urn);
    expect(await changesOf(urnsOf([urn]))).toEqual(expected);
    for (const aspect of ["ownership", "datasetProfile"]) {
      const of = expected.filter(({ aspectName }) => aspectName === aspect);
      expect(await changesOf(`${urnsOf([urn])}&aspect=${aspect}`)).toEqual(of);
    }
  }
});

test("the changes of several entities are in the order of the log", async () => {
  const some = urns.slice(1);
  const expected = all.filter(({ entityUrn }) => some.includes(entityUrn));
  expect(await changesOf(urnsOf(some))).toEqual(expected);
});
