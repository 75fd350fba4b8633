/** Facets of datasets that describe them. */
import { createHash } from "node:crypto";
import { type Contribution, latest } from "../contribution.ts";
import type { DatasetName, JobName, Symlinks } from "../event.ts";
import { platformName } from "../names.ts";
import {
  type EventContext,
  type FacetOwner,
  type FacetSchema,
  type FacetTable,
  facet,
  listOf,
  mapOf,
  object,
  text,
  type ValueOf,
} from "./facet-table.ts";
import { columnLineage, datasetLineage } from "./lineage-facets.ts";
import { operation } from "./operations.ts";
import { flattened, properties } from "./properties.ts";
import { schema } from "./schema-facet.ts";
import { documentation, ownership, subTypeItem, tags } from "./shared-facets.ts";

/** A table and the files that it is stored in are siblings. */
function siblings(
  _: Symlinks,
  { urn, dataset }: FacetOwner,
  { urns }: EventContext,
): readonly Contribution[] {
  if (dataset === undefined) return [];
  const { namespace, name } = dataset;
  const files = urns.dataset({ namespace, name });
  if (files === urn) return [];
  const sibling = (from: string, value: string): Contribution => ({
    kind: "member",
    urn: from,
    aspect: "siblings",
    field: "siblings",
    value,
  });
  return [
    ...[sibling(urn, files), latest(urn, "siblings", "primary", true)],
    ...[sibling(files, urn), latest(files, "siblings", "primary", false)],
    { kind: "exists", urn: files },
  ];
}

const hierarchy = object({ hierarchy: listOf(object({ type: text, name: text })) });

/**
 * Containers from the outermost level to the dataset. The ids are those of DataHub's connectors: a hash of
 * the platform and the names down to the level.
 */
function containers(
  { hierarchy: all }: ValueOf<typeof hierarchy>,
  { urn, dataset }: FacetOwner,
  { urns }: EventContext,
): readonly Contribution[] {
  if (dataset === undefined) return [];
  const { platform } = platformName(dataset);
  const key = new Map([["platform", platform]]);
  // The last level may be the dataset itself.
  const levels = all.filter(({ type }) => !DATASET_LEVELS.test(type));
  const contributions: Contribution[] = [];
  let parent: string | undefined;
  for (const { type, name } of levels) {
    key.set(type.toLowerCase(), name);
    const sorted = [...key].sort(([a], [b]) => (a < b ? -1 : 1));
    const guid = createHash("md5")
      .update(JSON.stringify(Object.fromEntries(sorted)))
      .digest("hex");
    const container = urns.of("container", guid);
    contributions.push(
      latest(container, "containerProperties", "name", name),
      latest(container, "dataPlatformInstance", "platform", urns.platform(platform)),
      subTypeItem(container, type.charAt(0).toUpperCase() + type.slice(1).toLowerCase()),
    );
    if (parent !== undefined)
      contributions.push(latest(container, "container", "container", parent));
    parent = container;
  }
  if (parent !== undefined) contributions.push(latest(urn, "container", "container", parent));
  return contributions;
}

const DATASET_LEVELS = /^(table|view|dataset|file|topic|collection)$/i;

const lifecycleOperations: ReadonlyMap<string, string> = new Map([
  ["CREATE", "CREATE"],
  ["DROP", "DROP"],
  ["TRUNCATE", "DELETE"],
  ["ALTER", "ALTER"],
  ["RENAME", "ALTER"],
  ["OVERWRITE", "UPDATE"],
]);

const nameOf = ({ namespace, name }: JobName | DatasetName): string => `${namespace}/${name}`;

export const datasetFacets: FacetTable = new Map([
  schema,
  columnLineage,
  datasetLineage,
  documentation,
  ownership,
  tags,
  facet(
    "symlinks",
    object({ "identifiers?": listOf(object({ namespace: text, name: text, type: text })) }),
    siblings,
  ),
  facet(
    "datasetType",
    object({ datasetType: text, "subType?": text }),
    ({ datasetType, subType }, { urn }) =>
      [datasetType, ...(subType === undefined ? [] : [subType])].map((item) =>
        subTypeItem(urn, item),
      ),
  ),
  facet("version", object({ datasetVersion: text }), ({ datasetVersion }, owner) =>
    properties(owner, { datasetVersion }),
  ),
  facet(
    "storage",
    object({ storageLayer: text, "fileFormat?": text }),
    ({ storageLayer, fileFormat }, owner) => properties(owner, { storageLayer, fileFormat }),
  ),
  facet(
    "catalog",
    object({
      ...{ framework: text, type: text, name: text, "metadataUri?": text, "warehouseUri?": text },
      ...{ "source?": text, "catalogProperties?": mapOf(text) },
    }),
    (value, owner) => flattened(owner, "catalog", value),
  ),
  facet("dataSource", object({ "name?": text, "uri?": text }), ({ name, uri }, owner) =>
    properties(owner, { dataSourceName: name, dataSourceUri: uri }),
  ),
  facet("hierarchy", hierarchy, containers),
  facet(
    "lifecycleStateChange",
    object({
      lifecycleStateChange: { enum: [...lifecycleOperations.keys()] } as FacetSchema<string>,
      "previousIdentifier?": object({ name: text, namespace: text }),
    }),
    ({ lifecycleStateChange, previousIdentifier }, owner, context) => [
      operation(owner.urn, context, {
        operationType: lifecycleOperations.get(lifecycleStateChange) ?? "UNKNOWN",
        customProperties: {
          lifecycleStateChange,
          ...(previousIdentifier && { previousDataset: nameOf(previousIdentifier) }),
        },
      }),
    ],
  ),
]);
