/** Datasets, their columns and platforms. */
import { isValidUrn } from "../../../core/urn.ts";
import { jsonObject, objectsIn } from "../../../lib/json.ts";
import { ownValue } from "../../../lib/own-value.ts";
import { namedBy } from "../../queries/entity-source.ts";
import { groupsOf } from "../../queries/entity-values.ts";
import type { FromValue, Mapping } from "../mapping.ts";

/** The names of column types that are not the record's name in capitals. */
const columnTypes: Readonly<Record<string, string>> = {
  RecordType: "STRUCT",
  ArrayType: "ARRAY",
  BytesType: "BYTES",
  NullType: "NULL",
};

/** `{type: {"com.linkedin.schema.NumberType": {}}}` → NUMBER */
export const columnType: FromValue = ({ type }) => {
  const union = jsonObject(type) && jsonObject(type.type) ? type.type : {};
  const record = Object.keys(union)[0]?.split(".").at(-1) ?? "";
  return ownValue(columnTypes, record) ?? (record.replace(/Type$/, "").toUpperCase() || "NULL");
};

/** Documents of schemas by the members that hold them. */
const platformSchema: FromValue = ({ platformSchema: union }) => {
  const [schema] = jsonObject(union) ? Object.values(union) : [];
  if (!jsonObject(schema)) return null;
  if (typeof schema.valueSchema === "string") return { __typename: "KeyValueSchema", ...schema };
  const text = schema.documentSchema ?? schema.tableSchema ?? schema.rawSchema ?? schema.schema;
  return typeof text === "string" ? { __typename: "TableSchema", schema: text } : null;
};

const schemaMetadata = {
  name: "schemaName",
  platformUrn: "platform",
  datasetUrn: (_: unknown, owner: string) => owner,
  platformSchema,
};

const column = {
  type: columnType,
  tags: "globalTags",
  /** Null for a path that no urn can hold, such as one with a control character. */
  schemaFieldEntity: ({ fieldPath }: Readonly<Record<string, unknown>>, owner: string) => {
    const urn = `urn:${owner.split(":")[1]}:schemaField:(${owner},${fieldPath})`;
    return isValidUrn(urn) ? namedBy(urn) : null;
  },
};

/** The environment, the last part of the urn. */
const environment: FromValue = (_, owner) => owner.slice(owner.lastIndexOf(",") + 1, -1);

export const datasets: Mapping = {
  entities: {
    Dataset: {
      description: "datasetProperties/description",
      externalUrl: "datasetProperties/externalUrl",
      uri: "datasetProperties/uri",
      origin: "key/origin",
      editableSchemaMetadata: "editableSchemaMetadata",
      viewProperties: "viewProperties",
      fineGrainedLineages: ({ aspect }) =>
        objectsIn(aspect("upstreamLineage")?.fineGrainedLineages),
    },
    SchemaFieldEntity: {
      fieldPath: "key/fieldPath",
      parent: "key/parent",
      businessAttributes: "businessAttributes",
    },
    DataPlatform: {
      displayName: "dataPlatformInfo/displayName",
      info: "dataPlatformInfo",
    },
    // A reference names the instance itself. An entity of this type has the instance's id in its key.
    DataPlatformInstance: { instanceId: "key/instance", platform: "key/platform" },
    ERModelRelationship: {
      id: "key/id",
      properties: "erModelRelationshipProperties",
      editableProperties: "editableERModelRelationshipProperties",
    },
    Role: {
      id: "key/id",
      actors: "actors",
      isAssignedToMe: async ({ aspect }, { actor, loader }) => {
        const { users, groups } = aspect("actors") ?? {};
        if (actor === undefined) return false;
        const mine = await groupsOf(actor, loader);
        return (
          objectsIn(users).some(({ user }) => user === actor) ||
          objectsIn(groups).some(({ group }) => mine.includes(String(group)))
        );
      },
    },
    VersionSet: { latestVersion: "versionSetProperties/latest" },
  },
  values: {
    DatasetProperties: {
      origin: environment,
      createdActor: "created/actor",
      lastModifiedActor: "lastModified/actor",
    },
    SchemaMetadata: schemaMetadata,
    Schema: schemaMetadata,
    SchemaField: column,
    EditableSchemaFieldInfo: column,
    ViewProperties: {
      logic: "viewLogic",
      formattedLogic: "formattedViewLogic",
      language: "viewLanguage",
    },
    ERModelRelationshipProperties: { createdTime: "created/time", createdActor: "created/actor" },
    BusinessAttributeAssociation: { businessAttribute: "businessAttributeUrn" },
    BusinessAttributeInfo: { tags: "globalTags", type: columnType },
  },
};
