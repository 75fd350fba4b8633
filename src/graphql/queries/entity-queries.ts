/** The queries that return entities by their urns. */
import { CatalogError } from "../../core/errors.ts";
import type { Resolver, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { type EntitySource, entityOf, namedAs } from "./entity-source.ts";

const urnsMax = 1_000;

const there = async (urn: string, viewer: Viewer): Promise<EntitySource | null> => {
  const loaded = await viewer.loader.load(urn);
  return loaded.exists ? entityOf(loaded.urn) : null;
};

/** An entity of one type; null when it does not exist. */
const existing =
  (typename: string): Resolver =>
  async (_: never, { urn }: { urn: string }, viewer: Viewer) => {
    const found = await there(urn, viewer);
    return found?.__typename === typename ? found : null;
  };

/** A missing entity of a type with the field `exists`: clients show "not found" when it is false. */
const withExists =
  (typename: string): Resolver =>
  async (_: never, { urn }: { urn: string }, viewer: Viewer) =>
    namedAs(typename, (await viewer.loader.load(urn)).urn);

interface Urns {
  readonly urns: readonly string[];
  readonly checkForExistence?: Maybe<boolean>;
}

async function entities(_: never, { urns, checkForExistence }: Urns, viewer: Viewer) {
  if (urns.length > urnsMax) {
    throw new CatalogError(
      "malformed",
      `urns has ${urns.length} members; at most ${urnsMax} are allowed`,
      {
        hint: "Ask for them in several fields or requests",
      },
    );
  }
  const found = urns.map((urn) => there(urn, viewer));
  return checkForExistence ? (await Promise.all(found)).filter((one) => one !== null) : found;
}

export const entityQueries: Readonly<Record<string, Resolver>> = {
  entity: (_: never, { urn }: { urn: string }, viewer: Viewer) => there(urn, viewer),
  entities: entities as Resolver,
  entityExists: async (_: never, { urn }: { urn: string }, { catalog }: Viewer) =>
    catalog.exists(urn, { includeSoftDelete: true }),
  dataset: withExists("Dataset"),
  chart: withExists("Chart"),
  dashboard: withExists("Dashboard"),
  dataJob: withExists("DataJob"),
  dataFlow: withExists("DataFlow"),
  dataProcessInstance: withExists("DataProcessInstance"),
  container: withExists("Container"),
  notebook: withExists("Notebook"),
  corpUser: withExists("CorpUser"),
  corpGroup: withExists("CorpGroup"),
  dataProduct: withExists("DataProduct"),
  document: withExists("Document"),
  glossaryTerm: withExists("GlossaryTerm"),
  glossaryNode: withExists("GlossaryNode"),
  metric: withExists("Metric"),
  mlModel: withExists("MLModel"),
  mlModelGroup: withExists("MLModelGroup"),
  mlFeature: withExists("MLFeature"),
  mlFeatureTable: withExists("MLFeatureTable"),
  mlPrimaryKey: withExists("MLPrimaryKey"),
  semanticModel: withExists("SemanticModel"),
  structuredProperty: withExists("StructuredPropertyEntity"),
  application: existing("Application"),
  assertion: existing("Assertion"),
  businessAttribute: existing("BusinessAttribute"),
  connection: existing("DataHubConnection"),
  dataPlatform: existing("DataPlatform"),
  dataPlatformInstance: existing("DataPlatformInstance"),
  domain: existing("Domain"),
  erModelRelationship: existing("ERModelRelationship"),
  executionRequest: existing("ExecutionRequest"),
  form: existing("Form"),
  role: existing("Role"),
  tag: existing("Tag"),
  test: existing("Test"),
  versionSet: existing("VersionSet"),
  view: existing("DataHubView"),
};
