/** Fields that many entity types share, and the types of their values. */
import { entityTypeOf } from "../../../core/urn.ts";
import { dayMs } from "../../../lib/calendar.ts";
import { jsonObject, objectsIn, stringsIn } from "../../../lib/json.ts";
import { ownValue } from "../../../lib/own-value.ts";
import { namedBy } from "../../queries/entity-source.ts";
import { lastIngestedOf, nameOf, platformOf, propertiesOf } from "../../queries/entity-values.ts";
import { stageOf } from "../../queries/lists/organisation-lists.ts";
import { descriptionPathOf, propertiesAspectOf } from "../../schema/entity-types.ts";
import type { FromEntity, Mapping } from "../mapping.ts";

/** Null when the entity's own aspect of properties holds the description. */
const editableProperties: FromEntity = ({ urn, aspect }) => {
  const [name = "", field = ""] = descriptionPathOf(entityTypeOf(urn));
  const value = name === propertiesAspectOf(entityTypeOf(urn)) ? undefined : aspect(name);
  return value === undefined ? null : { ...value, description: value[field] };
};

/** Older clients wrote the domains without associations. */
const domain: FromEntity = ({ aspect }) => {
  const { domainAssociations, domains } = aspect("domains") ?? {};
  const [association] = objectsIn(domainAssociations);
  const [first] = stringsIn(domains);
  const named = association?.domain ?? first;
  return named === undefined ? null : { ...association, domain: named };
};

const applications: FromEntity = ({ aspect }) =>
  stringsIn(aspect("applications")?.applications).map((application) => ({ application }));

/** `Dataset.deprecation` of older clients is an aspect of its own. */
const deprecation: FromEntity = ({ aspect }) =>
  aspect("deprecation") ?? aspect("datasetDeprecation") ?? null;

export const shared: Mapping = {
  entities: {
    Entity: {
      exists: ({ exists }) => exists,
      name: nameOf,
      properties: propertiesOf,
      editableProperties,
      platform: platformOf,
      dataPlatformInstance: "dataPlatformInstance/instance",
      container: "container/container",
      subTypes: "subTypes",
      status: "status",
      deprecation,
      tags: "globalTags",
      globalTags: "globalTags",
      glossaryTerms: "glossaryTerms",
      ownership: "ownership",
      domain,
      applications,
      application: (entity, viewer) => {
        const [first] = applications(entity, viewer) as readonly object[];
        return first;
      },
      institutionalMemory: "institutionalMemory",
      lastIngested: lastIngestedOf,
      structuredProperties: "structuredProperties",
      forms: "forms",
      browsePaths: ({ aspect }) =>
        stringsIn(aspect("browsePaths")?.paths).map((path) => ({
          path: path.split("/").filter((part) => part !== ""),
        })),
      browsePathV2: "browsePathsV2",
      settings: "assetSettings",
      embed: "embed",
      access: "access",
      documentation: "documentation",
      displayProperties: "displayProperties",
      testResults: "testResults",
      versionProperties: "versionProperties",
      logicalParent: "logicalParent/parent/destinationUrn",
      siblings: ({ aspect }) => {
        const value = aspect("siblings");
        return value && { isPrimary: value.primary, siblings: value.siblings };
      },
    },
  },
  values: {
    Owner: {
      ownershipType: ({ type, typeUrn }, _, { namespace }) =>
        typeUrn ?? `urn:${namespace}:ownershipType:__system__${String(type).toLowerCase()}`,
    },
    Ownership: {
      // An owner may be any urn; the schema has users and groups.
      owners: ({ owners }) =>
        objectsIn(owners).filter(({ owner }) =>
          ["CorpUser", "CorpGroup"].includes(namedBy(owner)?.__typename ?? ""),
        ),
    },
    GlossaryTermAssociation: { term: "urn" },
    Deprecation: { actorEntity: "actor" },
    InstitutionalMemoryMetadata: {
      label: "description",
      author: "createStamp/actor",
      actor: "createStamp/actor",
      created: "createStamp",
      updated: "updateStamp",
    },
    Status: {
      lifecycleStage: ({ lifecycleStage }, _, viewer) =>
        typeof lifecycleStage === "string" ? stageOf(lifecycleStage, viewer) : null,
    },
    BrowsePathEntry: { name: "id", entity: "urn" },
    RoleAssociation: { role: "urn" },
    FormAssociation: { form: "urn" },
    StructuredPropertiesEntry: {
      structuredProperty: "propertyUrn",
      values: ({ values }) => (Array.isArray(values) ? values.map(propertyValue) : []),
      valueEntities: ({ values }) =>
        (Array.isArray(values) ? values : [])
          .flatMap((one) => (jsonObject(one) ? Object.values(one) : []))
          .flatMap((one) => namedBy(one) ?? []),
    },
    AllowedValue: { value: ({ value }) => propertyValue(value) },
    EntityEdge: { destination: "destinationUrn" },
    VersionProperties: {
      createdInSource: "sourceCreatedTimestamp",
      created: "metadataCreatedTimestamp",
    },
    TimeWindow: { durationMillis: ({ length }) => millisecondsOf(length) },
    FineGrainedLineage: {
      upstreams: ({ upstreams }) => stringsIn(upstreams).flatMap(columnOf),
      downstreams: ({ downstreams }) => stringsIn(downstreams).flatMap(columnOf),
    },
  },
};

/** Lengths of calendar intervals in milliseconds; those from months on are approximate. */
const intervals: Readonly<Record<string, number>> = {
  ...{ SECOND: 1_000, MINUTE: 60_000, HOUR: 3_600_000, DAY: dayMs, WEEK: 7 * dayMs },
  ...{ MONTH: 30 * dayMs, QUARTER: 91 * dayMs, YEAR: 365 * dayMs },
};

/** The length of a window, `{unit: "DAY", multiple: 2}`, in milliseconds. */
function millisecondsOf(length: unknown): number | undefined {
  if (!jsonObject(length)) return undefined;
  const interval = ownValue(intervals, String(length.unit));
  return interval && interval * Number(length.multiple ?? 1);
}

/** `{string: "x"}` or `{double: 1}`, as a member of the union PropertyValue. */
function propertyValue(value: unknown): object | null {
  const [found] = jsonObject(value) ? Object.values(value) : [];
  return typeof found === "number"
    ? { __typename: "NumberValue", numberValue: found }
    : { __typename: "StringValue", stringValue: String(found ?? "") };
}

/** The column that a urn of a schemaField names, as a SchemaFieldRef; none for another urn. */
export function columnOf(urn: string): readonly { readonly urn: string; readonly path: string }[] {
  const found = /^urn:[^:]+:schemaField:\((urn:.*\)),(.*)\)$/.exec(urn);
  return found?.[1] === undefined ? [] : [{ urn: found[1], path: found[2] ?? "" }];
}
