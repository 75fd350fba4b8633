/** What the fields of entities answer: from their aspects, as the request's loader has them. */
import { CatalogError } from "../core/errors.ts";
import { type JsonObject, jsonObject } from "../core/json.ts";
import { entityTypeOf } from "../core/urn.ts";
import { entityTypeFields } from "./entity-definitions.ts";
import type { LoadedEntity } from "./entity-loader.ts";
import { shownType } from "./entity-types.ts";
import type { Viewer } from "./viewer.ts";

/** What stands for an entity between fields. */
export interface EntitySource {
  readonly __typename: string;
  readonly urn: string;
  readonly type: string;
}

type Of<T> = (loaded: LoadedEntity, viewer: Viewer) => T;
type Resolver = (source: never, args: never, viewer: Viewer) => unknown;

export function entityOf(urn: string): EntitySource {
  const entityType = entityTypeOf(urn);
  const typename =
    entityType === "corpuser" ? "CorpUser" : (entityTypeFields[entityType]?.[0] ?? "CatalogEntity");
  return { __typename: typename, urn, type: shownType(entityType) };
}

/** An entity where the value is a urn. */
const namedBy = (value: unknown): EntitySource | null =>
  typeof value === "string" && /^urn:[^:]+:[^:]+:./.test(value) ? entityOf(value) : null;

const namedAs = (typename: string, value: unknown): EntitySource | null => {
  const named = namedBy(value);
  return named?.__typename === typename ? named : null;
};

const list = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(jsonObject) : [];

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** The aspect that tells the properties of an entity type. */
export const propertiesAspects: Readonly<Record<string, string>> = {
  dataset: "datasetProperties",
  chart: "chartInfo",
  dashboard: "dashboardInfo",
  dataJob: "dataJobInfo",
  dataFlow: "dataFlowInfo",
  dataProcessInstance: "dataProcessInstanceProperties",
  container: "containerProperties",
  corpGroup: "corpGroupInfo",
  domain: "domainProperties",
  dataProduct: "dataProductProperties",
  glossaryTerm: "glossaryTermInfo",
  glossaryNode: "glossaryNodeInfo",
  tag: "tagProperties",
  mlModel: "mlModelProperties",
  mlModelGroup: "mlModelGroupProperties",
  mlFeature: "mlFeatureProperties",
  mlFeatureTable: "mlFeatureTableProperties",
  mlPrimaryKey: "mlPrimaryKeyProperties",
  notebook: "notebookInfo",
  document: "documentInfo",
  dataPlatform: "dataPlatformInfo",
  dataPlatformInstance: "dataPlatformInstanceProperties",
  versionSet: "versionSetProperties",
};

/** The aspect that people edit, and what its field for descriptions is called. */
export const descriptionAspects: Readonly<
  Record<string, readonly [aspect: string, field: string]>
> = {
  dataset: ["editableDatasetProperties", "description"],
  chart: ["editableChartProperties", "description"],
  dashboard: ["editableDashboardProperties", "description"],
  dataJob: ["editableDataJobProperties", "description"],
  dataFlow: ["editableDataFlowProperties", "description"],
  container: ["editableContainerProperties", "description"],
  corpGroup: ["corpGroupEditableInfo", "description"],
  domain: ["domainProperties", "description"],
  dataProduct: ["dataProductProperties", "description"],
  glossaryTerm: ["glossaryTermInfo", "definition"],
  glossaryNode: ["glossaryNodeInfo", "definition"],
  tag: ["tagProperties", "description"],
  mlModel: ["editableMlModelProperties", "description"],
  mlModelGroup: ["editableMlModelGroupProperties", "description"],
  mlFeature: ["editableMlFeatureProperties", "description"],
  mlFeatureTable: ["editableMlFeatureTableProperties", "description"],
  mlPrimaryKey: ["editableMlPrimaryKeyProperties", "description"],
  notebook: ["editableNotebookProperties", "description"],
};

/** What the urn says, by the fields of the key; empty where the entity is not there. */
const keyOf = ({ found }: LoadedEntity): JsonObject => {
  const [key] = found?.exists === true ? found.aspects : [];
  const value: unknown = key === undefined ? {} : JSON.parse(key.value);
  return jsonObject(value) ? value : {};
};

/** Last part of the urn: what is shown where nothing gives a name. */
const lastPart = (urn: string): string => {
  const id = urn.split(":").slice(3).join(":");
  return id.startsWith("(") ? (id.slice(1, -1).split(",").at(-1) ?? id) : id;
};

function propertiesOf(loaded: LoadedEntity): JsonObject | null {
  const entityType = entityTypeOf(loaded.urn);
  const told = loaded.aspect(propertiesAspects[entityType] ?? "");
  if (told === undefined) return null;
  const custom = jsonObject(told.customProperties) ? told.customProperties : {};
  return {
    ...told,
    name: told.name ?? told.title ?? told.displayName ?? nameOf(loaded),
    title: text(told.title),
    description: text(told.description ?? told.definition),
    customProperties: Object.entries(custom).map(([key, value]) => ({ key, value })),
  };
}

function nameOf(loaded: LoadedEntity): string {
  const entityType = entityTypeOf(loaded.urn);
  const told = loaded.aspect(propertiesAspects[entityType] ?? "") ?? {};
  const key = keyOf(loaded);
  // A platform is called by its key, also where it has a name to show.
  const names =
    entityType === "dataPlatform" || entityType === "corpGroup"
      ? [key.platformName, key.name]
      : [told.name, told.title, key.name];
  return names.map(text).find((name) => name !== null && name !== "") ?? lastPart(loaded.urn);
}

function platformOf(loaded: LoadedEntity, { namespace }: Viewer): EntitySource | null {
  const key = keyOf(loaded);
  const instance = loaded.aspect("dataPlatformInstance")?.platform;
  const told = namedAs("DataPlatform", key.platform ?? instance);
  const tool = text(key.dashboardTool ?? key.orchestrator);
  return told ?? (tool === null ? null : entityOf(`urn:${namespace}:dataPlatform:${tool}`));
}

const tagsOf = (value: unknown, urn: string) =>
  jsonObject(value)
    ? {
        tags: list(value.tags).flatMap(({ tag, context }) => {
          const named = namedAs("Tag", tag);
          return named === null ? [] : [{ tag: named, context, associatedUrn: urn }];
        }),
      }
    : null;

export const termsOf = (value: unknown, urn: string) =>
  jsonObject(value)
    ? {
        terms: list(value.terms).flatMap((one) => {
          const term = namedAs("GlossaryTerm", one.urn);
          return term === null ? [] : [{ term, associatedUrn: urn }];
        }),
      }
    : null;

function ownershipOf({ urn, aspect }: LoadedEntity) {
  const value = aspect("ownership");
  if (value === undefined) return null;
  return {
    lastModified: value.lastModified,
    owners: list(value.owners).flatMap(({ owner, type, typeUrn }) => {
      const named = namedAs("CorpUser", owner) ?? namedAs("CorpGroup", owner);
      const ownershipType = typeof typeUrn === "string" ? { urn: typeUrn } : null;
      return named === null ? [] : [{ owner: named, type, ownershipType, associatedUrn: urn }];
    }),
  };
}

function domainOf({ urn, aspect }: LoadedEntity) {
  const [first] = (aspect("domains")?.domains ?? []) as readonly unknown[];
  const domain = namedAs("Domain", first);
  return domain === null ? null : { domain, associatedUrn: urn };
}

function deprecationOf({ aspect }: LoadedEntity) {
  const value = aspect("deprecation");
  return value === undefined ? null : { ...value, replacement: namedBy(value.replacement) };
}

function editableOf({ urn, aspect }: LoadedEntity) {
  const [name = "", field = ""] = descriptionAspects[entityTypeOf(urn)] ?? [];
  const value = name === propertiesAspects[entityTypeOf(urn)] ? undefined : aspect(name);
  return value === undefined ? null : { ...value, description: text(value[field]) };
}

function linksOf({ aspect }: LoadedEntity) {
  const value = aspect("institutionalMemory");
  if (value === undefined) return null;
  const elements = list(value.elements).map((one) => ({ ...one, label: one.description }));
  return { elements };
}

function schemaOf({ urn, aspect }: LoadedEntity) {
  const value = aspect("schemaMetadata");
  if (value === undefined) return null;
  const { schemaName: name, version, primaryKeys } = value;
  return {
    name,
    version,
    primaryKeys,
    fields: list(value.fields).map((one) => labelled(one, urn)),
  };
}

function editableSchemaOf({ urn, aspect }: LoadedEntity) {
  const value = aspect("editableSchemaMetadata");
  if (value === undefined) return null;
  const fields = list(value.editableSchemaFieldInfo).map((one) => labelled(one, urn));
  return { editableSchemaFieldInfo: fields };
}

const labelled = (field: JsonObject, urn: string) => {
  const tags = tagsOf(field.globalTags, urn);
  return { ...field, tags, globalTags: tags, glossaryTerms: termsOf(field.glossaryTerms, urn) };
};

/** A field that follows from the entity's aspects. */
const from =
  <T>(of: Of<T>): Resolver =>
  async ({ urn }: EntitySource, _: never, viewer: Viewer) =>
    of(await viewer.loader.load(urn), viewer);

const keyField = (field: string): Resolver => from((loaded) => text(keyOf(loaded)[field]));

interface RelationshipsInput {
  readonly types: readonly string[];
  readonly direction: string;
  readonly start?: number | null;
  readonly count?: number | null;
}

async function relationships(
  { urn }: EntitySource,
  { input }: { input: RelationshipsInput },
  { catalog, loader }: Viewer,
) {
  const { types, direction, start, count } = input;
  const asked = { urn, types, direction, start: start ?? 0, count: count ?? 100 };
  const found = await loader.list(
    () => catalog.listRelationships(asked),
    (one) => one.relationships.length,
  );
  return {
    ...{ start: found.start, count: found.count, total: found.total },
    relationships: found.relationships.map((one) => ({
      ...{ type: one.type, direction, entity: namedBy(one.urn) },
    })),
  };
}

async function rawAspects(
  { urn }: EntitySource,
  { input }: { input?: { aspectNames?: readonly string[] | null } | null },
  { loader }: Viewer,
) {
  const { found } = await loader.load(urn);
  const names = input?.aspectNames ?? [];
  return (found?.aspects ?? [])
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(({ name, value }) => ({ aspectName: name, payload: value }));
}

const common: Readonly<Record<string, Resolver>> = {
  exists: from(({ exists }) => exists),
  name: from(nameOf),
  properties: from(propertiesOf),
  editableProperties: from(editableOf),
  platform: from(platformOf),
  dataPlatformInstance: from(({ aspect }) =>
    namedAs("DataPlatformInstance", aspect("dataPlatformInstance")?.instance),
  ),
  container: from(({ aspect }) => namedAs("Container", aspect("container")?.container)),
  subTypes: from(({ aspect }) => aspect("subTypes")),
  status: from(({ aspect }) => aspect("status")),
  deprecation: from(deprecationOf),
  tags: from(({ urn, aspect }) => tagsOf(aspect("globalTags"), urn)),
  globalTags: from(({ urn, aspect }) => tagsOf(aspect("globalTags"), urn)),
  glossaryTerms: from(({ urn, aspect }) => termsOf(aspect("glossaryTerms"), urn)),
  ownership: from(ownershipOf),
  domain: from(domainOf),
  institutionalMemory: from(linksOf),
  aspects: rawAspects as Resolver,
  relationships: relationships as Resolver,
};

const parentNode = (aspect: string): Resolver =>
  from((loaded) => namedAs("GlossaryNode", loaded.aspect(aspect)?.parentNode));

const own: Readonly<Record<string, Readonly<Record<string, Resolver>>>> = {
  Dataset: {
    origin: keyField("origin"),
    schemaMetadata: from(schemaOf),
    editableSchemaMetadata: from(editableSchemaOf),
  },
  Chart: { tool: keyField("dashboardTool"), chartId: keyField("chartId") },
  Dashboard: { tool: keyField("dashboardTool"), dashboardId: keyField("dashboardId") },
  DataJob: {
    jobId: keyField("jobId"),
    dataFlow: from((loaded) => namedAs("DataFlow", keyOf(loaded).flow)),
    platform: from(async (loaded, viewer) => {
      const flow = text(keyOf(loaded).flow);
      return flow === null ? null : platformOf(await viewer.loader.load(flow), viewer);
    }),
  },
  DataFlow: {
    orchestrator: keyField("orchestrator"),
    flowId: keyField("flowId"),
    cluster: keyField("cluster"),
  },
  Domain: {
    id: keyField("id"),
    parentDomain: from(({ aspect }) => namedAs("Domain", aspect("domainProperties")?.parentDomain)),
  },
  GlossaryTerm: {
    hierarchicalName: from(({ urn }) => urn.split(":").slice(3).join(":")),
    parentNode: parentNode("glossaryTermInfo"),
  },
  GlossaryNode: { parentNode: parentNode("glossaryNodeInfo") },
  MLFeature: { featureNamespace: keyField("featureNamespace") },
  MLPrimaryKey: { featureNamespace: keyField("featureNamespace") },
  Document: {
    info: from(propertiesOf),
    subType: from(({ aspect }) => {
      const [first] = (aspect("subTypes")?.typeNames ?? []) as readonly unknown[];
      return text(first);
    }),
  },
  // What a reference names is the instance; what an entity of this type is, its key says.
  DataPlatformInstance: {
    instanceId: keyField("instance"),
    platform: from((loaded) => namedAs("DataPlatform", keyOf(loaded).platform)),
  },
  SchemaFieldEntity: {
    fieldPath: keyField("fieldPath"),
    parent: from((loaded) => namedBy(keyOf(loaded).parent)),
  },
  VersionSet: {
    latestVersion: from(({ aspect }) => namedBy(aspect("versionSetProperties")?.latest)),
  },
  CorpUser: {
    // The one who asks is told of in any case.
    properties: ((source: EntitySource & { properties?: () => unknown }, _: never, viewer) =>
      source.properties?.() ??
      viewer.loader.load(source.urn).then(({ aspect }) => aspect("corpUserInfo"))) as Resolver,
    info: from(({ aspect }) => aspect("corpUserInfo")),
    editableProperties: from(({ aspect }) => aspect("corpUserEditableInfo")),
    username: from(({ urn }) => lastPart(urn)),
  },
};

const typenames = [
  ...Object.values(entityTypeFields).map(([type]) => type),
  "CorpUser",
  "CatalogEntity",
];

export const entityFields: Readonly<Record<string, Readonly<Record<string, Resolver>>>> =
  Object.fromEntries(typenames.map((type) => [type, { ...common, ...own[type] }]));

const urnsMax = 1_000;

const there = async (urn: string, viewer: Viewer): Promise<EntitySource | null> => {
  const loaded = await viewer.loader.load(urn);
  return loaded.exists ? entityOf(loaded.urn) : null;
};

const ofType = (typename: string): Resolver => {
  return async (_: never, { urn }: { urn: string }, viewer: Viewer) => {
    const found = await there(urn, viewer);
    return found?.__typename === typename ? found : null;
  };
};

export const entityQueries: Readonly<Record<string, Resolver>> = {
  entity: (_: never, { urn }: { urn: string }, viewer: Viewer) => there(urn, viewer),
  entities(_: never, { urns }: { urns: readonly string[] }, viewer: Viewer) {
    if (urns.length <= urnsMax) return urns.map((urn) => there(urn, viewer));
    throw new CatalogError("malformed", `urns has ${urns.length} members of at most ${urnsMax}`, {
      hint: "Ask for them in several fields or requests",
    });
  },
  entityExists: async (_: never, { urn }: { urn: string }, { catalog }: Viewer) =>
    catalog.exists(urn, { includeSoftDelete: true }),
  dataset: ofType("Dataset"),
  chart: ofType("Chart"),
  dashboard: ofType("Dashboard"),
  dataJob: ofType("DataJob"),
  dataFlow: ofType("DataFlow"),
  container: ofType("Container"),
  corpUser: ofType("CorpUser"),
  corpGroup: ofType("CorpGroup"),
  domain: ofType("Domain"),
  dataProduct: ofType("DataProduct"),
  glossaryTerm: ofType("GlossaryTerm"),
  glossaryNode: ofType("GlossaryNode"),
  tag: ofType("Tag"),
  mlModel: ofType("MLModel"),
  mlModelGroup: ofType("MLModelGroup"),
  mlFeature: ofType("MLFeature"),
  mlFeatureTable: ofType("MLFeatureTable"),
  mlPrimaryKey: ofType("MLPrimaryKey"),
  dataPlatform: ofType("DataPlatform"),
  assertion: ofType("Assertion"),
  appConfig: () => ({
    telemetryConfig: { enableThirdPartyLogging: false },
    semanticSearchConfig: { enabled: false, enabledEntities: [] },
  }),
};
