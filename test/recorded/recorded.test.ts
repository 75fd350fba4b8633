/**
 * 265 recorded requests to DataHub, replayed in order. Responses contain everything recorded,
 * except for the differences listed in differences.ts. Recordings of other routes are skipped by
 * their path.
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

/** The names of the facets of a response, in order. */
function facetNames(body: unknown): readonly string[] {
  const answer = body as { value?: { metadata?: { aggregations?: { name: string }[] } } } | null;
  return answer?.value?.metadata?.aggregations?.map(({ name }) => name) ?? [];
}

let service: RunningService;
/** The last position that a response returned. */
let written = 0;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

describe("responses contain everything recorded from DataHub:", () => {
  const replayed = recordings.filter(({ request }) => belongs(request));
  test("more than half of the recordings are replayed", () => {
    expect(replayed.length).toBeGreaterThan(recordings.length / 2);
  });

  for (const { name, request, response } of replayed) {
    test(name, async () => {
      const { method, path, headers, body } = request;
      const reply = await service.client.call(method, path, body ?? undefined, {
        ...headers,
        // The recorded searches covered the writes before them.
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

  test("every listed difference belongs to a recording", () => {
    const names = new Set(replayed.map(({ name }) => name));
    expect(Object.keys(differences).filter((name) => !names.has(name))).toEqual([]);
  });
});
