/** OpenAPI endpoints: edges of the graph, page after page, whatever their ends. */
import type { EndFilter, FoundRelationship, RelationshipScroll } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { isLaterSlice } from "../../../core/query/slice-options.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { ApiRequest, ApiResponse, Endpoint, Parameter } from "../../schemas/endpoint.ts";
import * as forms from "../../schemas/openapi-schemas.ts";
import { inPath, query } from "../../schemas/query-parameters.ts";
import { filterOf, type OpenApiFilter, openApiFilter, paging, sliceOf } from "./openapi-lists.ts";

const types = query.strings(
  "relationshipTypes",
  "Names of relationships; all when absent, and with `*`",
);

const direction = (values: readonly string[], about: string): Parameter =>
  query.string("direction", about, { values });

const endOf = (urn: string) => ({ urn, entityType: entityTypeOf(urn) });

const resultOf = ({ type, source, destination }: FoundRelationship) => ({
  relationshipType: type,
  source: endOf(source),
  destination: endOf(destination),
});

function lineageOf(edge: FoundRelationship) {
  const [upstream, downstream] =
    edge.upstream === "source" ? [edge.source, edge.destination] : [edge.destination, edge.source];
  return { ...resultOf(edge), upstream, downstream };
}

interface Query {
  readonly relationshipTypes?: readonly string[];
  readonly relationshipType?: readonly string[];
  readonly sourceTypes?: readonly string[];
  readonly destinationTypes?: readonly string[];
  readonly direction?: string;
  readonly count?: number;
  readonly scrollId?: string;
  readonly includeSoftDelete?: boolean;
  readonly sliceId?: number;
  readonly sliceMax?: number;
}

const namesIn = (names: readonly string[] | undefined): readonly string[] =>
  (names ?? []).flatMap((name) => name.split(",")).filter((name) => name !== "" && name !== "*");

/** Parameters of all of them. */
const scrollOf = (asked: Query): RelationshipScroll => ({
  types: namesIn(asked.relationshipTypes ?? asked.relationshipType),
  count: asked.count,
  scrollId: asked.scrollId,
  includeSoftDeleted: asked.includeSoftDelete,
});

async function scrolled(
  query: RelationshipScroll,
  options: {
    readonly asked: Query;
    readonly catalog: Parameters<Endpoint["handle"]>[1]["catalog"];
    readonly shown?: (edge: FoundRelationship) => object;
  },
): Promise<ApiResponse> {
  const { asked, catalog, shown = resultOf } = options;
  if (isLaterSlice(sliceOf(asked))) return { json: '{"results":[]}' };
  const { scrollId, relationships } = await catalog.scrollRelationships(query);
  return { json: JSON.stringify({ scrollId, results: relationships.map(shown) }) };
}

interface EdgesBody {
  readonly sourceFilter?: OpenApiFilter | null;
  readonly destinationFilter?: OpenApiFilter | null;
  readonly edgeFilter?: OpenApiFilter | null;
}

type EdgeQuery = Pick<RelationshipScroll, "source" | "destination" | "edges">;

/** INCOMING swaps source and destination; fields of edges keep their meaning. */
function edgesOf({ parameters, body }: ApiRequest): EdgeQuery {
  const asked = parameters as Query;
  const { sourceFilter, destinationFilter, edgeFilter } = body as EdgesBody;
  const source = endFilter(asked.sourceTypes, sourceFilter);
  const destination = endFilter(asked.destinationTypes, destinationFilter);
  return directionOf(asked) === "INCOMING"
    ? { source: destination, destination: source, edges: filterOf(edgeFilter) }
    : { source, destination, edges: filterOf(edgeFilter) };
}

const endFilter = (
  names: readonly string[] | undefined,
  filter: OpenApiFilter | null | undefined,
): EndFilter => ({ types: namesIn(names), filter: filterOf(filter) });

function directionOf({ direction = "OUTGOING" }: Query): "INCOMING" | "OUTGOING" {
  if (direction === "INCOMING" || direction === "OUTGOING") return direction;
  throw new CatalogError("malformed", `direction is "${direction.slice(0, 120)}"`, {
    hint: "Send OUTGOING or INCOMING",
  });
}

const row = { kind: "page", group: "OpenAPI", reads: "relationships" } as const;

const rowsOf = (version: "v2" | "v3"): readonly Endpoint[] => {
  const base = `/openapi/${version}/relationship`;
  const suffix = version === "v3" ? "" : "V2";
  return [
    {
      ...row,
      method: "POST",
      path: `${base}/scroll`,
      name: `scrollRelationships${suffix}`,
      parameters: [
        types,
        query.strings("sourceTypes", "Entity types at the source; all when absent"),
        query.strings("destinationTypes", "Entity types at the destination; all when absent"),
        direction(["OUTGOING", "INCOMING"], "`INCOMING`: source and destination change places"),
        ...paging,
        forms.includeSoftDelete,
      ],
      body: {
        type: "object",
        properties: {
          sourceFilter: openApiFilter,
          destinationFilter: openApiFilter,
          edgeFilter: {
            ...openApiFilter,
            description:
              "On `relationshipType`, `source.urn`, `source.entityType`, `destination.urn`, `destination.entityType`, `via`, `createdOn`, `createdActor`, `updatedOn` and `updatedActor`",
          },
        },
      },
      handle(request, { catalog }) {
        const asked = request.parameters as Query;
        return scrolled({ ...scrollOf(asked), ...edgesOf(request) }, { asked, catalog });
      },
    },
    {
      ...row,
      method: "GET",
      path: `${base}/{relationshipType}`,
      name: `listRelationshipsOfType${suffix}`,
      parameters: [
        inPath("relationshipType", "Name of a relationship"),
        ...paging,
        forms.includeSoftDelete,
      ],
      handle({ parameters, path }, { catalog }) {
        const asked = parameters as Query;
        const types = [path.relationshipType ?? ""];
        return scrolled({ ...scrollOf(asked), types }, { asked, catalog });
      },
    },
    {
      ...row,
      method: "GET",
      path: `${base}/{entity}/{urn}`,
      name: `listRelationshipsOfEntity${suffix}`,
      parameters: [
        ...[forms.entity, forms.urn],
        query.strings("relationshipType", "Names of relationships; all when absent, and with `*`"),
        direction(["OUTGOING", "INCOMING"], "`OUTGOING` when absent: from the entity"),
        ...paging,
        forms.includeSoftDelete,
      ],
      handle({ parameters, path }, { catalog }) {
        const asked = parameters as Query;
        const own: EndFilter = { urns: [path.urn ?? ""] };
        const ends = directionOf(asked) === "OUTGOING" ? { source: own } : { destination: own };
        return scrolled({ ...scrollOf(asked), ...ends }, { asked, catalog });
      },
    },
  ];
};

const lineageScroll: Endpoint = {
  ...row,
  method: "POST",
  path: "/openapi/v3/lineage/scroll",
  name: "scrollLineageEdges",
  parameters: [
    types,
    direction(["UPSTREAM", "DOWNSTREAM"], "Which edges of `urns`; both when absent"),
    ...paging,
    forms.includeSoftDelete,
  ],
  body: {
    type: "object",
    properties: {
      urns: { type: ["array", "null"], maxItems: 1_000, items: { type: "string" } },
    },
  },
  handle({ parameters, body }, { catalog }) {
    const asked = parameters as Query;
    const { urns } = body as { readonly urns?: readonly string[] | null };
    const around = urns ?? undefined;
    const query = { ...scrollOf(asked), lineage: true, direction: asked.direction, around };
    return scrolled(query, { asked, catalog, shown: lineageOf });
  },
};

export const relationshipScrolls: readonly Endpoint[] = [
  ...rowsOf("v3"),
  lineageScroll,
  ...rowsOf("v2"),
];
