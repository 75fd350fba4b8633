/** Queries that every caller may send, some of which check a privilege, and fields of entities. */
import type { Resolver } from "../context.ts";
import { privilegeFields } from "./access/entity-privileges.ts";
import { analyticsQueries } from "./discovery/analytics.ts";
import { discoveryQueries } from "./discovery/facet-queries.ts";
import { hierarchyFields } from "./fields/hierarchy.ts";
import { qualityFields } from "./fields/quality.ts";
import { runFields } from "./fields/runs.ts";
import { statisticsFields } from "./fields/statistics.ts";
import { documentFields } from "./history/document-changes.ts";
import { historyQueries } from "./history/timeline.ts";
import { memberFields, memberQueries } from "./lists/members.ts";
import { organisationQueries } from "./lists/organisation-lists.ts";
import { peopleQueries } from "./lists/people-lists.ts";
import { listQueries } from "./lists/search-lists.ts";
import { appConfig } from "./settings/app-config.ts";
import { settingsQueries } from "./settings/global-settings.ts";

export const readQueries = {
  appConfig,
  ...settingsQueries,
  ...listQueries,
  ...peopleQueries,
  ...organisationQueries,
  ...memberQueries,
  ...discoveryQueries,
  ...analyticsQueries,
  ...historyQueries,
};

/** Tables by type of the schema; those of `Entity` for every entity type that has the field. */
export const readFields: readonly Readonly<Record<string, Readonly<Record<string, Resolver>>>>[] = [
  { Entity: privilegeFields },
  memberFields,
  hierarchyFields,
  qualityFields,
  statisticsFields,
  runFields,
  documentFields,
];
