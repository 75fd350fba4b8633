/** Searches of one iteration of the event loop are one request to Elasticsearch or OpenSearch. */
import { type Client, errors } from "@elastic/elasticsearch";
import { expect, test } from "vitest";
import { createMultiSearch } from "../../src/storage/elasticsearch/multi-search.ts";

/** A client whose searches find their own size. Responses to more than `most` searches are too large. */
function countingClient(most = Number.POSITIVE_INFINITY) {
  const requests: string[] = [];
  const client = {
    search: async ({ size }: { size: number }) => {
      requests.push("search");
      if (size < 0) throw new Error("no such size");
      return { hits: { total: size } };
    },
    msearch: async ({ searches }: { searches: readonly { size: number }[] }) => {
      const bodies = searches.filter((_, n) => n % 2 === 1);
      requests.push(`msearch of ${bodies.length}`);
      if (bodies.length > most) throw new errors.RequestAbortedError("too large");
      const responses = bodies.map(({ size }) =>
        size < 0 ? { error: { type: "invalid" }, status: 400 } : { hits: { total: size } },
      );
      return { responses };
    },
  };
  const search = createMultiSearch((request) => request(client as unknown as Client));
  const ask = async (size: number) => (await search({ index: "words", size })).hits.total;
  return { ask, requests };
}

test("searches of one iteration are one request, and a single one stays a search", async () => {
  const { ask, requests } = countingClient();
  expect(await Promise.all([3, 1, 2].map(ask))).toEqual([3, 1, 2]);
  expect(await ask(7)).toBe(7);
  expect(requests).toEqual(["msearch of 3", "search"]);
});

test("a search that fails among others is repeated alone and has its own error", async () => {
  const { ask, requests } = countingClient();
  const found = await Promise.allSettled([3, -1, 2].map(ask));
  expect(found.map((one) => (one.status === "rejected" ? one.reason.message : one.value))).toEqual([
    ...[3, "no such size", 2],
  ]);
  expect(requests).toEqual(["msearch of 3", "search"]);
});

test("searches whose responses are too large together are sent in halves", async () => {
  const { ask, requests } = countingClient(2);
  expect(await Promise.all([1, 2, 3, 4].map(ask))).toEqual([1, 2, 3, 4]);
  expect(requests).toEqual(["msearch of 4", "msearch of 2", "msearch of 2"]);
});
