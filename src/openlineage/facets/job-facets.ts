/** Facets of jobs. */
import { isPageLink } from "../../core/rules/link-rules.ts";
import type { JsonObject } from "../../lib/json.ts";
import { latest, type WholeAspect } from "../contribution.ts";
import { type FacetTable, facet, object, text } from "./facet-table.ts";
import { jobLineage } from "./lineage-facets.ts";
import { flattened, properties } from "./properties.ts";
import { documentation, ownership, subTypeItem, tags } from "./shared-facets.ts";

const statement = (urn: string, value: string, language: "SQL" | "UNKNOWN"): WholeAspect => ({
  kind: "whole",
  urn,
  aspect: "dataTransformLogic",
  value: { transforms: [{ queryStatement: { value, language } }] },
  mark: ({ transforms }) =>
    (transforms as readonly JsonObject[]).map(({ queryStatement }) => queryStatement),
});

export const jobFacets: FacetTable = new Map([
  documentation,
  ownership,
  tags,
  jobLineage,
  facet("sql", object({ query: text, "dialect?": text }), ({ query, dialect }, owner) => [
    statement(owner.urn, query, "SQL"),
    ...properties(owner, { sqlDialect: dialect }),
  ]),
  facet(
    "sourceCode",
    object({ language: text, sourceCode: text }),
    ({ language, sourceCode }, owner, { job }) => [
      ...properties(owner, { sourceCodeLanguage: language }),
      // The statement of a job with both is its SQL.
      ...(job?.facets?.sql === undefined ? [statement(owner.urn, sourceCode, "UNKNOWN")] : []),
    ],
  ),
  facet("sourceCodeLocation", object({ type: text, url: text }), ({ url, ...location }, owner) => [
    ...(isPageLink(url) ? [latest(owner.urn, owner.properties, "externalUrl", url)] : []),
    ...flattened(owner, "sourceCodeLocation", isPageLink(url) ? location : { url, ...location }),
  ]),
  facet(
    "jobType",
    object({
      ...{ processingType: text, integration: text },
      ...{ "jobType?": text, "emissionPattern?": object({}) },
    }),
    ({ processingType, integration, jobType, emissionPattern }, owner, { run }) => [
      ...properties(owner, { processingType, integration, jobType }),
      ...flattened(owner, "emissionPattern", emissionPattern ?? {}),
      ...(jobType === undefined ? [] : [subTypeItem(owner.urn, jobType)]),
      ...(run === undefined || processingType !== "STREAMING"
        ? []
        : [latest(run.urn, "dataProcessInstanceProperties", "type", "STREAMING")]),
    ],
  ),
]);
