/** /openapi/openlineage: events of OpenLineage, single and in batches. */
import { CatalogError } from "../../../core/errors.ts";
import { createLazyAcceptEvent } from "../../../openlineage/lazy-accept-event.ts";
import { type ApiResponse, type BodySchema, type Endpoint, text } from "../../schemas/endpoint.ts";

const path = "/openapi/openlineage/api/v1/lineage";

/** Maximum number of events of a batch; each is one write. */
const batchMax = 1_000;

const members: BodySchema["properties"] = {
  eventTime: text("Time of the event: an ISO-8601 instant"),
  producer: text("URI of the producer"),
  schemaURL: text("Accepted; the members decide the type of the event"),
  eventType: text("START, RUNNING, COMPLETE, ABORT, FAIL or OTHER"),
  run: { description: "Run of a RunEvent: {runId, facets?}" },
  job: { description: "Job of a RunEvent or JobEvent: {namespace, name, facets?}" },
  dataset: { description: "Dataset of a DatasetEvent: {namespace, name, facets?}" },
  inputs: { description: "Datasets with `facets` and `inputFacets`" },
  outputs: { description: "Datasets with `facets` and `outputFacets`" },
};
const event: BodySchema = { type: "object", properties: members };

interface FailedEvent {
  readonly index: number;
  readonly reason: string;
  readonly retriable: boolean;
}

const retriableCodes: readonly string[] = ["conflict", "unavailable", "rate_limited"];

const failedEvent = (error: unknown, index: number): FailedEvent => {
  if (!(error instanceof CatalogError) || error.code === "internal") throw error;
  return { index, reason: error.text, retriable: retriableCodes.includes(error.code) };
};

const batchResponse = (received: number, failed: readonly FailedEvent[]): ApiResponse => {
  const retriable = failed.filter((one) => one.retriable).length;
  return {
    json: JSON.stringify({
      status: failed.length === 0 ? "success" : "partial_success",
      summary: {
        received,
        successful: received - failed.length,
        failed: failed.length,
        retriable,
        non_retriable: failed.length - retriable,
      },
      ...(failed.length > 0 && { failed_events: failed }),
    }),
  };
};

const row = {
  method: "POST",
  kind: "page",
  group: "OpenAPI",
  writes: true,
  // Events are mapped on the main thread; a body of this size takes up to a second.
  bodyBytesMax: 8 * 1024 * 1024,
} as const;

/** `namespace` is that of the service's urns. */
export function openLineageRoutes(namespace: string): readonly Endpoint[] {
  const accept = createLazyAcceptEvent(namespace);
  return [
    {
      ...row,
      path,
      name: "postOpenLineageEvent",
      body: event,
      async handle({ body, caller }, { catalog }) {
        return { position: await accept(body, catalog, caller) };
      },
    },
    {
      ...row,
      path: `${path}/batch`,
      name: "postOpenLineageEvents",
      body: { type: "array", items: {}, maxItems: batchMax },
      async handle({ body, caller }, { catalog }) {
        const events = body as readonly unknown[];
        const failed: FailedEvent[] = [];
        let last: ApiResponse["position"];
        for (const [index, one] of events.entries()) {
          try {
            last = (await accept(one, catalog, caller)) ?? last;
          } catch (error) {
            failed.push(failedEvent(error, index));
          }
        }
        return { ...batchResponse(events.length, failed), position: last };
      },
    },
  ];
}
