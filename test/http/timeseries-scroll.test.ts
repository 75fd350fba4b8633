/** A scroll over the events of all entities of a type, while others delete and create entities. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const call = (method: string, path: string, body?: unknown) =>
  service.client.call(method, path, body);
const path = "/openapi/v2/timeseries/dataset/operation";
const named = (n: number) =>
  `urn:li:dataset:(urn:li:dataPlatform:s3,scroll/${String(n).padStart(3, "0")},PROD)`;
const operation = (n: number) => ({
  urn: named(n),
  operation: {
    value: { timestampMillis: 5, lastUpdatedTimestamp: 5, operationType: "INSERT" },
  },
});
const write = (...numbers: readonly number[]) =>
  call("POST", "/openapi/v3/entity/dataset?async=false", numbers.map(operation));

interface Page {
  readonly scrollId?: string;
  readonly results: readonly { readonly urn: string }[];
}

async function pageAfter(scrollId: string | undefined, count: number): Promise<Page> {
  const more = scrollId === undefined ? "" : `&scrollId=${encodeURIComponent(scrollId)}`;
  const { status, body } = await call("GET", `${path}?count=${count}${more}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

test("a scroll of events returns each entity that stays once, and ends without a scroll id", async () => {
  const evens = Array.from({ length: 30 }, (_, n) => 2 * n);
  await write(...evens);
  const deleted = new Set<string>();
  const seen: string[] = [];
  for (let page = await pageAfter(undefined, 4), n = 0; ; n++) {
    seen.push(...page.results.map(({ urn }) => urn));
    if (page.scrollId === undefined) break;
    const gone = [page.results[0]?.urn ?? "", ...(n === 2 ? [page.results.at(-1)?.urn ?? ""] : [])];
    for (const urn of gone) {
      deleted.add(urn);
      await call("DELETE", `/openapi/v3/entity/dataset/${encodeURIComponent(urn)}`);
    }
    await write(n, 1_000 + n);
    page = await pageAfter(page.scrollId, 4);
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toEqual(seen.toSorted());
  expect(deleted.size).toBeGreaterThan(3);
  expect(seen).toEqual(expect.arrayContaining(evens.map(named).filter((urn) => !deleted.has(urn))));
});

test("a page that ends with the last entity has no scroll id", async () => {
  const all: string[] = [];
  let page = await pageAfter(undefined, 5_000);
  all.push(...page.results.map(({ urn }) => urn));
  expect(page.scrollId).toBeUndefined();
  page = await pageAfter(undefined, all.length);
  expect(page.results.map(({ urn }) => urn)).toEqual(all);
  expect(page.scrollId).toBeUndefined();
});
