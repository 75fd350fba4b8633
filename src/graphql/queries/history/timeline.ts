/** Changes of an entity, and versions of the schema of a dataset, from its timeline. */
import { toRead } from "../../../auth/policies/privileges.ts";
import type { ChangeTransaction } from "../../../catalog/catalog.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { jsonObject, stringsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { rejectUnreadable } from "../access/privilege-checks.ts";
import { schemaMetadata } from "../entity-fields.ts";
import { nameOf, platformOf, propertiesOf } from "../entity-values.ts";

/** The categories of the schema's enum ChangeCategoryType. */
const categories = [
  ...["DOCUMENTATION", "GLOSSARY_TERM", "OWNERSHIP", "TECHNICAL_SCHEMA", "TAG", "PARENT"],
  ...["RELATED_ENTITIES", "DOMAIN", "STRUCTURED_PROPERTY", "APPLICATION", "ASSET_MEMBERSHIP"],
];

const transactionsMax = 100;

/** The semantic version without the suffix `-computed`, which clients do not show. */
const versionOf = ({ semVer }: ChangeTransaction): string => semVer.replace(/-computed$/, "");

/** The changes by category, oldest first. Throws `forbidden` for a caller who may not view the entity. */
async function transactionsOf(
  urn: string,
  asked: readonly string[],
  viewer: Viewer,
): Promise<readonly ChangeTransaction[]> {
  await rejectUnreadable(viewer, toRead, urn);
  return viewer.catalog.getTimeline({ urn, categories: asked });
}

interface TimelineInput {
  readonly urn: string;
  readonly changeCategories?: Maybe<readonly string[]>;
}

async function getTimeline({ input }: InputArgs<TimelineInput>, viewer: Viewer) {
  const asked = input.changeCategories?.length ? input.changeCategories : categories;
  const all = await transactionsOf(input.urn, asked, viewer);
  const shown = all.filter(({ changeEvents }) => changeEvents.length > 0).slice(-transactionsMax);
  return {
    changeTransactions: shown.map((transaction) => ({
      timestampMillis: transaction.timestamp,
      lastSemanticVersion: versionOf(transaction),
      versionStamp: transaction.versionStamp,
      changeType: "MODIFY",
      actor: transaction.actor,
      changes: transaction.changeEvents.map(({ entityUrn, parameters, ...event }) => ({
        ...event,
        urn: entityUrn,
        parameters: Object.entries(parameters ?? {}).map(([key, value]) => ({
          key,
          value: typeof value === "string" ? value : JSON.stringify(value),
        })),
        auditStamp: { time: transaction.timestamp, actor: transaction.actor },
      })),
    })),
  };
}

const schemaVersion = (transaction: ChangeTransaction) => ({
  semanticVersion: versionOf(transaction),
  semanticVersionTimestamp: transaction.timestamp,
  versionStamp: transaction.versionStamp,
});

async function getSchemaVersionList(
  { input: { datasetUrn } }: InputArgs<{ readonly datasetUrn: string }>,
  viewer: Viewer,
) {
  const all = await transactionsOf(datasetUrn, ["TECHNICAL_SCHEMA"], viewer);
  const versions = all.map(schemaVersion).reverse();
  const [latest] = versions;
  if (latest === undefined) return null;
  return { latestVersion: latest, version: latest, semanticVersionList: versions };
}

interface BlameInput {
  readonly datasetUrn: string;
  readonly version?: Maybe<string>;
}

/** The newest change of each field by its present path, up to a version; without removed fields. */
async function getSchemaBlame({ input }: InputArgs<BlameInput>, viewer: Viewer) {
  const all = await transactionsOf(input.datasetUrn, ["TECHNICAL_SCHEMA"], viewer);
  const last = input.version
    ? all.findLastIndex((one) => versionOf(one) === input.version)
    : all.length - 1;
  const until = all.slice(0, last + 1);
  const blamed = new Map<string, object>();
  for (const transaction of until) {
    for (const { moved } of transaction.changeEvents) if (moved) blamed.delete(moved.from);
    for (const { operation, parameters, moved } of transaction.changeEvents) {
      const path = moved?.to ?? (jsonObject(parameters) ? parameters.fieldPath : undefined);
      if (typeof path !== "string") continue;
      blamed.delete(path);
      if (operation === "REMOVE") continue;
      const version = versionOf(transaction);
      blamed.set(path, {
        timestampMillis: transaction.timestamp,
        lastSemanticVersion: version,
        versionStamp: transaction.versionStamp,
        changeType: operation,
        lastSchemaFieldChange: `${operation === "ADD" ? "Added" : "Modified"} in v${version}`,
      });
    }
  }
  const newest = until.at(-1);
  return {
    version: newest === undefined ? null : schemaVersion(newest),
    schemaFieldBlameList: Array.from(blamed, ([fieldPath, schemaFieldChange]) => ({
      fieldPath,
      schemaFieldChange,
    })),
  };
}

export const historyQueries = {
  getTimeline,
  getSchemaVersionList,
  getSchemaBlame,
  versionedDataset,
};

interface VersionedInput {
  readonly urn: string;
  /** `<aspect>:<version>;…` */
  readonly versionStamp?: Maybe<string>;
}

/** A dataset with the schema of an earlier version, which a version stamp names. */
async function versionedDataset(input: VersionedInput, viewer: Viewer) {
  const { loader } = viewer;
  const entity = await loader.load(input.urn);
  const { urn, exists, aspect } = entity;
  if (!exists || entityTypeOf(urn) !== "dataset") return null;
  const version = /(?:^|;)schemaMetadata:(\d+)/.exec(input.versionStamp ?? "")?.[1];
  const schemaAt = (one: number) => schemaMetadata(entity, { version: one }, viewer);
  const applications = stringsIn(aspect("applications")?.applications).map((application) => ({
    application,
  }));
  const [domain] = stringsIn(aspect("domains")?.domains);
  return {
    urn,
    type: "DATASET",
    name: nameOf(entity),
    platform: platformOf(entity, viewer),
    container: aspect("container")?.container,
    properties: propertiesOf(entity),
    editableProperties: aspect("editableDatasetProperties"),
    ownership: aspect("ownership"),
    deprecation: aspect("deprecation"),
    institutionalMemory: aspect("institutionalMemory"),
    editableSchemaMetadata: aspect("editableSchemaMetadata"),
    status: aspect("status"),
    tags: aspect("globalTags"),
    glossaryTerms: aspect("glossaryTerms"),
    domain: domain === undefined ? null : { domain },
    applications,
    application: applications[0],
    schema: (await schemaAt(Number(version ?? 0))) ?? (await schemaAt(0)),
    subTypes: aspect("subTypes"),
    viewProperties: aspect("viewProperties"),
    origin: memberAt(entity.key(), ["origin"]),
  };
}
