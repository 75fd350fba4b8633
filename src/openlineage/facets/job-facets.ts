/** Facets of jobs. */
import type { JsonObject } from "../../lib/json.ts";
import type { Contribution, WholeAspect } from "../contribution.ts";
import { type FacetOwner, type FacetTable, facet, object, text } from "./facet-table.ts";
import { jobLineage } from "./lineage-facets.ts";
import { flattened, properties } from "./properties.ts";
import { documentation, ownership, tags } from "./shared-facets.ts";

const statement = (urn: string, value: string, language: "SQL" | "UNKNOWN"): WholeAspect => ({
  kind: "whole",
  urn,
  aspect: "dataTransformLogic",
  value: { transforms: [{ queryStatement: { value, language } }] },
  mark: ({ transforms }) =>
    (transforms as readonly JsonObject[]).map(({ queryStatement }) => queryStatement),
});

const subType = (urn: string, typeName: string): Contribution => ({
  kind: "item",
  urn,
  aspect: "subTypes",
  field: "typeNames",
  item: typeName,
  keyOf: String,
});

interface JobType {
  readonly processingType: string;
  readonly integration: string;
  readonly jobType?: string;
  readonly emissionPattern?: JsonObject;
}

export const jobFacets: FacetTable = new Map([
  documentation,
  ownership,
  tags,
  jobLineage,
  facet<{ query: string; dialect?: string }>(
    "sql",
    object({ query: text, "dialect?": text }),
    ({ query, dialect }, owner) => [
      statement(owner.urn, query, "SQL"),
      ...properties(owner, { sqlDialect: dialect }),
    ],
  ),
  facet<{ language: string; sourceCode: string }>(
    "sourceCode",
    object({ language: text, sourceCode: text }),
    ({ language, sourceCode }, owner, { job }) => [
      ...properties(owner, { sourceCodeLanguage: language }),
      // The statement of a job with both is its SQL.
      ...(job?.facets?.sql === undefined ? [statement(owner.urn, sourceCode, "UNKNOWN")] : []),
    ],
  ),
  facet<JsonObject & { url: string }>(
    "sourceCodeLocation",
    object({ type: text, url: text }),
    ({ url, ...location }, owner) => [
      {
        kind: "latest",
        urn: owner.urn,
        aspect: owner.properties,
        field: "externalUrl",
        value: url,
      },
      ...flattened(owner, "sourceCodeLocation", location),
    ],
  ),
  facet<JobType>(
    "jobType",
    object({
      processingType: text,
      integration: text,
      "jobType?": text,
      "emissionPattern?": object({}),
    }),
    ({ processingType, integration, jobType, emissionPattern }, owner: FacetOwner, { run }) => [
      ...properties(owner, { processingType, integration, jobType }),
      ...flattened(owner, "emissionPattern", emissionPattern ?? {}),
      ...(jobType === undefined ? [] : [subType(owner.urn, jobType)]),
      ...(run === undefined || processingType !== "STREAMING"
        ? []
        : [
            {
              kind: "latest",
              urn: run.urn,
              aspect: "dataProcessInstanceProperties",
              field: "type",
              value: "STREAMING",
            } as const,
          ]),
    ],
  ),
]);
