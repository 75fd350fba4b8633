/** Facets of datasets that describe them. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../lib/json.ts";
import type { Contribution } from "../contribution.ts";
import type { DatasetName, JobName, Symlinks } from "../event.ts";
import { platformName } from "../names.ts";
import {
  type EventContext,
  type FacetOwner,
  type FacetTable,
  facet,
  listOf,
  mapOf,
  object,
  text,
} from "./facet-table.ts";
import { columnLineage, datasetLineage } from "./lineage-facets.ts";
import { operation } from "./operations.ts";
import { flattened, properties } from "./properties.ts";
import { schema } from "./schema-facet.ts";
import { documentation, ownership, tags } from "./shared-facets.ts";

const subTypeItem = (urn: string, item: string): Contribution => ({
  kind: "item",
  urn,
  aspect: "subTypes",
  field: "typeNames",
  item,
  keyOf: String,
});

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
  const primary = (of: string, value: boolean): Contribution => ({
    kind: "latest",
    urn: of,
    aspect: "siblings",
    field: "primary",
    value,
  });
  return [
    ...[sibling(urn, files), primary(urn, true)],
    ...[sibling(files, urn), primary(files, false)],
    { kind: "exists", urn: files },
  ];
}

interface Level {
  readonly type: string;
  readonly name: string;
}

/**
 * Containers from the outermost level to the dataset. The ids are those of DataHub's connectors: a hash of
 * the platform and the names down to the level.
 */
function containers(
  { hierarchy }: { readonly hierarchy: readonly Level[] },
  { urn, dataset }: FacetOwner,
  { urns }: EventContext,
): readonly Contribution[] {
  if (dataset === undefined) return [];
  const { platform } = platformName(dataset);
  const key = new Map([["platform", platform]]);
  // The last level may be the dataset itself.
  const levels = hierarchy.filter(({ type }) => !DATASET_LEVELS.test(type));
  const contributions: Contribution[] = [];
  let parent: string | undefined;
  const latest = (of: string, aspect: string, field: string, value: unknown): Contribution => ({
    kind: "latest",
    urn: of,
    aspect,
    field,
    value,
  });
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
  facet<Symlinks>(
    "symlinks",
    object({ "identifiers?": listOf(object({ namespace: text, name: text, type: text })) }),
    siblings,
  ),
  facet<{ datasetType: string; subType?: string }>(
    "datasetType",
    object({ datasetType: text, "subType?": text }),
    ({ datasetType, subType }, { urn }) =>
      [datasetType, ...(subType === undefined ? [] : [subType])].map((item) =>
        subTypeItem(urn, item),
      ),
  ),
  facet<{ datasetVersion: string }>(
    "version",
    object({ datasetVersion: text }),
    ({ datasetVersion }, owner) => properties(owner, { datasetVersion }),
  ),
  facet<{ storageLayer: string; fileFormat?: string }>(
    "storage",
    object({ storageLayer: text, "fileFormat?": text }),
    ({ storageLayer, fileFormat }, owner) => properties(owner, { storageLayer, fileFormat }),
  ),
  facet<JsonObject>(
    "catalog",
    object({
      framework: text,
      type: text,
      name: text,
      "metadataUri?": text,
      "warehouseUri?": text,
      "source?": text,
      "catalogProperties?": mapOf(text),
    }),
    (value, owner) => flattened(owner, "catalog", value),
  ),
  facet<{ name?: string; uri?: string }>(
    "dataSource",
    object({ "name?": text, "uri?": text }),
    ({ name, uri }, owner) => properties(owner, { dataSourceName: name, dataSourceUri: uri }),
  ),
  facet<{ hierarchy: readonly Level[] }>(
    "hierarchy",
    object({ hierarchy: listOf(object({ type: text, name: text })) }),
    containers,
  ),
  facet<{ lifecycleStateChange: string; previousIdentifier?: DatasetName }>(
    "lifecycleStateChange",
    object({
      lifecycleStateChange: { enum: [...lifecycleOperations.keys()] },
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
