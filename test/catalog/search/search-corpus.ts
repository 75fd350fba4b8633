/** A small catalog to search: the data of a farmers' cooperative. */
import { foldText, tokensOf } from "../../../projections/search/words.ts";
import type { WalkLineage } from "../../../src/catalog/graph/lineage.ts";
import { createSearches, type SearchParts } from "../../../src/catalog/search/create-search.ts";
import { position } from "../../../src/core/position.ts";
import { parseUrn } from "../../../src/core/urn.ts";
import type { SearchDocument } from "../../../src/views/search/search.ts";
import { createSearchModel } from "../../contract/search-model.ts";
import { documentOf, rules } from "../../projections/search-state.ts";

export const dataset = (name: string, platform = "postgres"): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`;

export const HARVESTS = dataset("farmly.public.harvests");
export const GROWERS = dataset("farmly.public.growers");
export const YIELDS = dataset("mart.yields", "snowflake");
export const OLD = dataset("legacy.harvests", "mysql");
export const DRAFT = dataset("farmly.draft_v1");
export const MIRA = "urn:li:corpuser:mira";
export const PII = "urn:li:tag:pii";
export const FIELDS = "urn:li:container:fields";
export const FARM = "urn:li:container:farm";
export const SITE = "urn:li:container:site";
export const OPS = "urn:li:domain:ops";
export const CROPS = "urn:li:domain:crops";
export const NODE = "urn:li:glossaryNode:Trade";
export const TERM = "urn:li:glossaryTerm:Order";

const stamp = { time: 1_700_000_000_000, actor: MIRA };

type Aspects = Readonly<Record<string, unknown>>;

export const entities: Readonly<Record<string, Aspects>> = {
  [HARVESTS]: {
    datasetProperties: {
      name: "harvests",
      description: "Harvests, one row each",
      customProperties: { tier: "gold" },
      created: { time: Date.parse("2026-03-01T00:00:00Z"), actor: MIRA },
      tags: [],
    },
    globalTags: { tags: [{ tag: PII }, { tag: "urn:li:tag:fresh" }] },
    glossaryTerms: { terms: [{ urn: TERM }], auditStamp: stamp },
    ownership: { owners: [{ owner: MIRA, type: "DATAOWNER" }], lastModified: stamp },
    browsePaths: { paths: ["/prod/postgres/farmly"] },
    browsePathsV2: {
      path: [
        { id: SITE, urn: SITE },
        { id: FARM, urn: FARM },
      ],
    },
    container: { container: FARM },
    subTypes: { typeNames: ["Table"] },
  },
  [GROWERS]: {
    datasetProperties: { name: "growers", customProperties: {}, tags: [] },
    editableDatasetProperties: {
      description: "Who grows the harvests",
      created: stamp,
      lastModified: stamp,
    },
    domains: { domains: [OPS] },
    browsePaths: { paths: ["/prod/postgres/farmly"] },
    container: { container: FIELDS },
  },
  [YIELDS]: {
    datasetProperties: {
      name: "yields",
      description: "Daily yields from harvests",
      created: { time: Date.parse("2026-05-01T10:30:00Z"), actor: MIRA },
      customProperties: {},
      tags: [],
    },
    domains: { domains: [CROPS] },
    browsePaths: { paths: ["/prod/snowflake"] },
    incidentsSummary: { activeIncidentDetails: [], resolvedIncidentDetails: [] },
  },
  [OLD]: {
    datasetProperties: { name: "harvests", customProperties: {}, tags: [] },
    status: { removed: true },
    browsePaths: { paths: ["/prod/mysql/legacy"] },
  },
  [DRAFT]: {
    versionProperties: {
      versionSet: "urn:li:versionSet:(draft,dataset)",
      version: { versionTag: "1" },
      sortId: "1",
      isLatest: false,
    },
    browsePaths: { paths: ["/prod"] },
  },
  [MIRA]: {
    corpUserInfo: { active: true, displayName: "Mira Voss", email: "mira@farmly.example" },
  },
  [PII]: { tagProperties: { name: "PII", description: "About people" } },
  [SITE]: { containerProperties: { name: "site" } },
  [FARM]: { containerProperties: { name: "farm" }, container: { container: SITE } },
  [FIELDS]: { containerProperties: { name: "fields" }, container: { container: FARM } },
  [OPS]: { domainProperties: { name: "Operations" } },
  [CROPS]: { domainProperties: { name: "Crops", parentDomain: OPS } },
  [NODE]: { glossaryNodeInfo: { definition: "What is traded", name: "Trade" } },
  [TERM]: {
    glossaryTermInfo: { definition: "An order", termSource: "INTERNAL", parentNode: NODE },
  },
};

export const documentsOf = (
  entities: Readonly<Record<string, Aspects>>,
): readonly SearchDocument[] =>
  Object.entries(entities).map(([urn, aspects]) => documentOf(urn, aspects));

/** A search view with the documents, at a position that equals their number. */
export function readerOf(documents: readonly SearchDocument[]): SearchParts["reader"] {
  const model = createSearchModel();
  const writes = documents.map((document, i) => {
    return { op: "put", position: position(i + 1), urn: document.urn, document } as const;
  });
  model.apply(writes, position(writes.length));
  return {
    search: async (query) => model.search(query),
    folders: async (query) => model.folders(query),
    documents: async (urns) => model.documents(urns),
    close: async () => undefined,
  };
}

const nowhere: WalkLineage = async () => ({ reached: [], partial: false });

export const searchesOver = (
  documents: readonly SearchDocument[],
  walk: WalkLineage = nowhere,
): ReturnType<typeof createSearches> =>
  createSearches({
    reader: readerOf(documents),
    rules,
    words: { tokensOf, foldText },
    walk,
    namespace: "li",
    linkedUrn: async (urn) => {
      parseUrn(urn);
      return urn;
    },
    caughtUp: async () => undefined,
  });
