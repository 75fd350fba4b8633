/** The routes of the OpenAPI endpoints. HEAD comes before GET, which would answer it otherwise. */
import type { EntityOutline } from "../../docs/docs-model.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { createModelNames } from "../../schemas/openapi-forms.ts";
import { auditSearchRoutes } from "./openapi-audit.ts";
import { openApiConsumers } from "./openapi-consumers.ts";
import { countRoutes } from "./openapi-counts.ts";
import { entityReads } from "./openapi-entities.ts";
import { genericRoutes } from "./openapi-generic.ts";
import { legacyRoutes } from "./openapi-legacy.ts";
import { entityLists } from "./openapi-lists.ts";
import { modelRoutes } from "./openapi-models.ts";
import { openApiOperations } from "./openapi-operations.ts";
import { relationshipScrolls } from "./openapi-relationships.ts";
import { timeseriesRoutes } from "./openapi-timeseries.ts";
import { traceRoutes } from "./openapi-trace.ts";
import { entityWrites } from "./openapi-writes.ts";
import { openLineageRoutes } from "./openlineage.ts";

export function openApiRoutes(
  entities: readonly EntityOutline[],
  urnNamespace: string,
): readonly Endpoint[] {
  const names = createModelNames(entities);
  return [
    ...entityReads("v3", names),
    ...entityLists("v3", names),
    ...entityWrites("v3", names),
    ...traceRoutes(names),
    ...timeseriesRoutes(names),
    ...modelRoutes(entities),
    ...countRoutes(entities),
    ...relationshipScrolls,
    ...openApiOperations,
    ...openApiConsumers,
    ...auditSearchRoutes,
    ...entityReads("v2", names),
    ...entityLists("v2", names),
    ...entityWrites("v2", names),
    ...genericRoutes(names),
    ...legacyRoutes(names),
    ...openLineageRoutes(urnNamespace),
  ];
}
