/**
 * What the reference answered to 265 requests, replayed in order: this service answers the same or
 * more, and where it answers otherwise the reason is listed (differences.ts). Recordings of routes
 * that are not here yet are passed over by their path, and counted.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { differences } from "./differences.ts";
import { type Recording, recordings } from "./recordings.ts";
import { missingFrom } from "./superset.ts";

const ACTIONS = new Set(
  [
    "ingestProposal ingestProposalBatch getTimeseriesAspectValues getCount ingest batchIngest delete",
    "exists filterExistingUrns listUrns getTotalEntityCount getLineage deleteReferences fly search",
    "searchAcrossEntities searchAcrossLineage autocomplete browse getBrowsePaths filter list",
    "getEsTaskStatus truncateTimeseriesAspect restoreIndices getIndexSizes describe rollback",
  ].flatMap((names) => names.split(" ")),
);

/** Routes of ingestion, reads, searches and the service itself. */
function belongs({ method, path }: Recording["request"]): boolean {
  const { pathname, searchParams } = new URL(path, "http://host");
  if (["/config", "/health", "/nowhere"].includes(pathname)) return true;
  if (!/^\/(aspects|entities|entitiesV2|relationships|operations|runs)(\/|$)/.test(pathname))
    return false;
  const action = searchParams.get("action");
  return action === null || method === "GET" || ACTIONS.has(action);
}

/** The facets of an answer, in its order. */
function facetNames(body: unknown): readonly string[] {
  const answer = body as { value?: { metadata?: { aggregations?: { name: string }[] } } } | null;
  return answer?.value?.metadata?.aggregations?.map(({ name }) => name) ?? [];
}

let service: RunningService;
/** Last position that an answer told. */
let written = 0;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

describe("answers as recorded, or more", () => {
  const replayed = recordings.filter(({ request }) => belongs(request));
  test("replays more than half of the recordings", () => {
    expect(replayed.length).toBeGreaterThan(recordings.length / 2);
  });

  for (const { name, request, response } of replayed) {
    test(name, async () => {
      const { method, path, headers, body } = request;
      const reply = await service.client.call(method, path, body ?? undefined, {
        ...headers,
        // The recordings were made when searches had come to what was written before.
        "X-Annals-Min-Position": String(written),
        ...(path.startsWith("/operations") && tokenOf(service.directory)),
      });
      written = Math.max(written, reply.position ?? 0);
      const difference = differences[name];
      expect({ status: reply.status, body: reply.body }).toMatchObject({
        status: difference?.status ?? response.status,
      });
      if (reply.status >= 400) {
        expect(reply.body).toMatchObject({ status: reply.status, code: expect.any(String) });
        expect(reply.body).not.toHaveProperty("stackTrace");
        return;
      }
      const order = facetNames(response.body).filter((one) => facetNames(reply.body).includes(one));
      expect(facetNames(reply.body).filter((one) => order.includes(one))).toEqual(order);
      if (difference?.body === "other") return;
      const missing = missingFrom(response.body, reply.body).filter(
        (finding) => !difference?.without?.some((allowed) => allowed.test(finding)),
      );
      expect(missing).toEqual([]);
    });
  }

  test("lists no difference that is none", () => {
    const names = new Set(replayed.map(({ name }) => name));
    expect(Object.keys(differences).filter((name) => !names.has(name))).toEqual([]);
  });
});
