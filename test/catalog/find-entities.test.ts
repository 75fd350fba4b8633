/** Entities read for an endpoint: as many as a response holds, with bounded memory. */
import { expect, test } from "vitest";
import { createFinds } from "../../src/catalog/read/find-entities.ts";
import { createModelNames, written } from "../../src/http/schemas/openapi-forms.ts";
import { createConcurrencyLimit } from "../../src/lib/concurrency-limit.ts";

type Dependencies = Parameters<typeof createFinds>[0];

/** Entities with one aspect whose value has this many bytes. */
function finding(bytes: number) {
  const reads: number[] = [];
  const aspect = { name: "tagProperties", value: " ".repeat(bytes), removed: false };
  const entity = { name: "tag", keyAspect: "tagKey", aspects: ["tagProperties"] };
  const dependencies = {
    addresses: { readable: (urn: string) => ({ urn, entity }) },
    states: {
      read: async (urns: readonly string[]) => {
        reads.push(urns.length);
        return urns.map((urn) => ({ urn, aspects: new Map([["tagProperties", aspect]]) }));
      },
    },
    withLargeSlot: createConcurrencyLimit(1),
  } as unknown as Dependencies;
  return { finds: createFinds(dependencies), reads };
}

const urns = (count: number) => Array.from({ length: count }, (_, i) => `urn:li:tag:t${i}`);
const MiB = 1024 * 1024;

test("entities are returned as long as their values fit into a response", async () => {
  const { finds } = finding(MiB);
  expect(await finds.findEntities(urns(128), undefined)).toHaveLength(128);
  await expect(finds.findEntities(urns(129), undefined)).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("129 entities"),
  });
  // An aspect that is not requested does not count.
  expect(await finds.findEntities(urns(2_000), ["status"])).toHaveLength(2_000);
});

test("a single entity is returned, however large it is", async () => {
  expect(await finding(200 * MiB).finds.findEntities(urns(1), undefined)).toHaveLength(1);
});

test("reading stops when the values exceed the size of a response", async () => {
  const { finds, reads } = finding(MiB);
  await expect(finds.findEntities(urns(10_000), undefined)).rejects.toThrow();
  expect(reads).toEqual([50, 50, 50]);
});

test("a response to a large write lists urns without aspects", async () => {
  const { finds } = finding(MiB);
  const proposals = urns(200).map((entityUrn) => ({
    ...{ entityType: "tag", entityUrn, changeType: "PATCH" as const },
    aspectName: "tagProperties",
  }));
  const answered = await written(proposals, finds, createModelNames([]));
  expect(answered.map(({ urn }) => urn)).toEqual(urns(200));
  expect(answered.every(({ aspects }) => aspects.length === 0)).toBe(true);
});
