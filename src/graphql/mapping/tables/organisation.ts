/** Domains, glossary, tags, data products, applications, documents, metrics and semantic models. */
import { objectsIn, stringsIn } from "../../../lib/json.ts";
import { searchedTypes } from "../../queries/default-search-types.ts";
import { namedBy } from "../../queries/entity-source.ts";
import { modelDatasets } from "../../queries/fields/semantic-models.ts";
import type { FromEntity, FromValue, Mapping } from "../mapping.ts";

/** Time and actor of the first write of the entity. */
const createdOn: FromValue = async (_, owner, { loader }) => {
  const [key] = (await loader.load(owner)).found?.aspects ?? [];
  return key && { time: key.time, actor: key.actor };
};

/** The assets of an application name it. */
const assetsOfApplication: FromValue = async (_, owner, { catalog, entityTypes }) => {
  const filter = { or: [{ and: [{ field: "applications", value: owner }] }] };
  const request = { entities: [], usualEntities: searchedTypes(entityTypes), filter };
  return (await catalog.search(request, { start: 0, count: 0 })).total;
};

/** Metrics and semantic models have an aspect for it; older clients wrote it into the info. */
const aiContext: FromValue = async (value, owner, { loader }) =>
  value.aiContext ?? (await loader.load(owner)).aspect("aiContext");

/** The applications of an entity as its relationships. */
const applicationsAsEdges: FromEntity = ({ aspect, found }) => {
  const urns = stringsIn(aspect("applications")?.applications);
  const written = found?.aspects.find(({ name }) => name === "applications");
  const created = written && { time: written.time, actor: written.actor };
  const edge = { type: "AssociatedWith", direction: "OUTGOING", created };
  const relationships = urns.map((entity) => ({ ...edge, entity }));
  return { start: 0, count: urns.length, total: urns.length, relationships };
};

export const organisation: Mapping = {
  entities: {
    Domain: { id: "key/id", parentDomain: "domainProperties/parentDomain" },
    GlossaryTerm: {
      hierarchicalName: ({ urn }) => urn.split(":").slice(3).join(":"),
      parentNode: "glossaryTermInfo/parentNode",
      glossaryTermInfo: "glossaryTermInfo",
    },
    GlossaryNode: { parentNode: "glossaryNodeInfo/parentNode" },
    Tag: { description: "tagProperties/description" },
    Document: {
      info: "documentInfo",
      subType: ({ aspect }) => stringsIn(aspect("subTypes")?.typeNames)[0],
      settings: "documentSettings",
    },
    Metric: {
      path: "key/path",
      id: "key/id",
      info: "metricInfo",
      metricRelationships: "metricRelationships",
      metricUpstreams: "metricUpstreams",
      semanticModel: "metricInfo/semanticModel",
      parentMetric: "metricRelationships/parentMetric",
      applications: applicationsAsEdges,
    },
    SemanticModel: {
      path: "key/path",
      id: "key/id",
      info: "semanticModelInfo",
      fineGrainedLineages: ({ aspect }) =>
        objectsIn(aspect("upstreamLineage")?.fineGrainedLineages),
      applications: applicationsAsEdges,
    },
  },
  values: {
    DomainProperties: {
      createdOn: (value, owner, viewer) => value.created ?? createdOn(value, owner, viewer),
    },
    GlossaryTermProperties: { description: "definition", createdOn },
    GlossaryTermInfo: { description: "definition" },
    GlossaryNodeProperties: { description: "definition", createdOn },
    DataProductProperties: { createdOn, numAssets: ({ assets }) => objectsIn(assets).length },
    ApplicationProperties: { numAssets: assetsOfApplication },
    MetricInfo: { aiContext },
    SemanticModelInfo: { aiContext, datasets: modelDatasets },
    MetricRelationships: {
      derivedFrom: ({ derivedFrom }) =>
        objectsIn(derivedFrom).filter(({ destinationUrn }) => namedBy(destinationUrn) !== null),
    },
  },
};
