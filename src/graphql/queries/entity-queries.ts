/** The queries that return entities by their urns. */
import { CatalogError } from "../../core/errors.ts";
import type { Resolver, Viewer } from "../context.ts";
import { type EntitySource, entityOf } from "./entity-source.ts";

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
