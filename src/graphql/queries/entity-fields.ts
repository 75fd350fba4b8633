/** The fields of entities, by the types of the schema. */
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import type { Resolver, Viewer } from "../context.ts";
import type { LoadedEntity } from "../entity-loader.ts";
import { typenames } from "../schema/entity-types.ts";
import { type EntitySource, namedAs, namedBy } from "./entity-source.ts";
import {
  deprecationOf,
  domainOf,
  editableOf,
  editableSchemaOf,
  keyOf,
  lastIngestedOf,
  lastPart,
  linksOf,
  nameOf,
  ownershipOf,
  platformOf,
  propertiesOf,
  schemaOf,
  tagsOf,
  termsOf,
  text,
  userInfoOf,
} from "./entity-values.ts";
import { jobRuns } from "./job-runs.ts";

type Of<T> = (loaded: LoadedEntity, viewer: Viewer) => T;

/** A field computed from the entity's aspects. */
const from =
  <T>(of: Of<T>): Resolver =>
  async ({ urn }: EntitySource, _: never, viewer: Viewer) =>
    of(await viewer.loader.load(urn), viewer);

const keyField = (field: string): Resolver => from((loaded) => text(keyOf(loaded)[field]));

/** A user whose properties are loaded already. */
interface UserSource extends EntitySource {
  readonly properties?: () => Promise<JsonObject | undefined>;
}

interface RelationshipsInput {
  readonly types: readonly string[];
  readonly direction: string;
  readonly start?: number | null;
  readonly count?: number | null;
  readonly includeSoftDelete?: boolean | null;
}

async function relationships(
  { urn }: EntitySource,
  { input }: { input: RelationshipsInput },
  { catalog, loader }: Viewer,
) {
  const { types, direction, start, count, includeSoftDelete } = input;
  const includeSoftDeleted = includeSoftDelete ?? true;
  const page = { start: start ?? 0, count: count ?? 100 };
  const found = await loader.list(
    async () => catalog.listRelationships({ urn, types, direction, ...page, includeSoftDeleted }),
    (one) => one.relationships.length,
  );
  return {
    start: found.start,
    count: found.count,
    total: found.total,
    relationships: found.relationships.map((one) => ({
      type: one.type,
      direction,
      entity: namedBy(one.urn),
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

async function schemaMetadata(
  { urn }: EntitySource,
  { version }: { version?: number | null },
  { loader }: Viewer,
) {
  const name = "schemaMetadata";
  if ((version ?? 0) === 0) {
    const { found, aspect } = await loader.load(urn);
    const stored = found?.aspects.find((one) => one.name === name);
    return schemaOf(urn, aspect(name), stored?.time);
  }
  const stored = await loader.version(urn, name, version ?? 0);
  const value: unknown = stored && JSON.parse(stored.value);
  return schemaOf(urn, jsonObject(value) ? value : undefined, stored?.time);
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
  lastIngested: from(lastIngestedOf),
  aspects: rawAspects as Resolver,
  relationships: relationships as Resolver,
};

const parentNode = (aspect: string): Resolver =>
  from((loaded) => namedAs("GlossaryNode", loaded.aspect(aspect)?.parentNode));

/** For older clients; newer ones read `properties { description }`. */
const description: Resolver = from((loaded) => propertiesOf(loaded)?.description ?? null);

const own: Readonly<Record<string, Readonly<Record<string, Resolver>>>> = {
  Dataset: {
    description,
    origin: keyField("origin"),
    schemaMetadata: schemaMetadata as Resolver,
    editableSchemaMetadata: from(editableSchemaOf),
  },
  Chart: { tool: keyField("dashboardTool"), chartId: keyField("chartId") },
  Dashboard: { tool: keyField("dashboardTool"), dashboardId: keyField("dashboardId") },
  DataJob: {
    jobId: keyField("jobId"),
    dataFlow: from((loaded) => namedAs("DataFlow", keyOf(loaded).flow)),
    runs: jobRuns as Resolver,
    platform: from(async (loaded, viewer) => {
      const flow = text(keyOf(loaded).flow);
      return flow === null ? null : platformOf(await viewer.loader.load(flow), viewer);
    }),
  },
  DataProcessInstance: {
    created: from(({ aspect }) => aspect("dataProcessInstanceProperties")?.created),
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
  Tag: { description },
  MLFeature: { featureNamespace: keyField("featureNamespace") },
  MLPrimaryKey: { featureNamespace: keyField("featureNamespace") },
  Document: {
    info: from(propertiesOf),
    subType: from(({ aspect }) => {
      const [first] = (aspect("subTypes")?.typeNames ?? []) as readonly unknown[];
      return text(first);
    }),
  },
  // A reference names the instance itself. An entity of this type has the instance's id in its key.
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
    // The viewer's own properties are loaded already.
    properties: (async (source: UserSource, _: never, viewer) =>
      userInfoOf(
        (await source.properties?.()) ??
          (await viewer.loader.load(source.urn)).aspect("corpUserInfo"),
      )) as Resolver,
    info: from(({ aspect }) => userInfoOf(aspect("corpUserInfo"))),
    editableProperties: from(({ aspect }) => aspect("corpUserEditableInfo")),
    username: from(({ urn }) => lastPart(urn)),
  },
};

export const entityFields: Readonly<Record<string, Readonly<Record<string, Resolver>>>> =
  Object.fromEntries(
    [...Object.values(typenames), "CatalogEntity"].map((name) => {
      // Safe lookup: the names are a closed list.
      return [name, { ...common, ...own[name] }];
    }),
  );
