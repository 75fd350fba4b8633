/** GraphQL: one row, at the path that clients know best; address.ts has the others. */
import type { GraphqlDoor, GraphqlRequest } from "../../graphql/graphql-door.ts";
import { asked } from "../conditions.ts";
import type { Answer, Endpoint } from "../endpoint.ts";

export interface GraphqlOptions {
  readonly door: GraphqlDoor;
  /** Served to browsers where it is switched on. */
  readonly explorer: Pick<Answer, "html" | "contentSecurityPolicy"> | undefined;
}

const bodyBytesMax = 2 ** 20;
const path = "/api/graphql";

export const graphqlRoutes = ({ door, explorer }: GraphqlOptions): readonly Endpoint[] => [
  {
    method: "POST",
    kind: "page",
    path,
    name: "graphql",
    summary: "GraphQL: entities, searches, labels, access tokens",
    about:
      "Entities by their urns, searches and lineage; tags, terms, owners, domains and texts of entities; sources of ingestion; results of assertions; access tokens: introspection tells all of it. Also at /api/v2/graphql and /graphql. What goes wrong within a query is told in `errors`, with status 200.",
    body: {
      type: "object",
      required: ["query"],
      properties: {
        query: { type: "string", description: "At most 50,000 characters, 16 levels, 30 aliases" },
        variables: { type: ["object", "null"], description: "By name" },
        operationName: { type: ["string", "null"], description: "Where the query has several" },
      },
    },
    bodyBytesMax,
    conditional: true,
    changes: (body) => String((body as GraphqlBody).query).includes("mutation"),
    reads: ["entities", "timeseries", "relationships", "search"],
    reply: {
      type: "object",
      properties: {
        data: { type: ["object", "null"] },
        errors: { type: "array", items: { type: "object" } },
        extensions: { type: "object" },
      },
    },
    errors: [
      {
        code: "malformed",
        when: "the body is no GraphQL request, the query is too large, or a mutation has an Idempotency-Key or conditions",
      },
      { code: "too_large", when: "the body has more than 1 MiB" },
    ],
    async handle({ body, caller, conditions }) {
      const { query, variables, operationName } = body as GraphqlBody;
      const request: GraphqlRequest = {
        query,
        variables: variables ?? undefined,
        operationName: operationName ?? undefined,
        idempotencyKey: caller.idempotencyKey,
        conditions: asked(conditions),
      };
      return { ...(await door.execute(request, caller.actor)), keep: false };
    },
  },
  ...(explorer === undefined ? [] : [explorerRow(explorer)]),
];

interface GraphqlBody {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
}

const explorerRow = (explorer: Answer): Endpoint => ({
  method: "GET",
  kind: "page",
  path,
  name: "getGraphqlExplorer",
  summary: "A page to try queries on",
  open: true,
  reply: { type: "string" },
  replyType: "text/html",
  errors: [],
  handle: () => explorer,
});
