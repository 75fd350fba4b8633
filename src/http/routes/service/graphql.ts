/** GraphQL: one endpoint, at the path that most clients use; address.ts has the aliases. */
import type { GraphqlRequest, GraphqlServer } from "../../../graphql/graphql-server.ts";
import { asked } from "../../request/condition-headers.ts";
import { type ApiResponse, type Endpoint, objectWith, text } from "../../schemas/endpoint.ts";

export interface GraphqlOptions {
  readonly server: GraphqlServer;
  /** Served to browsers when enabled. */
  readonly explorer: Pick<ApiResponse, "html" | "contentSecurityPolicy"> | undefined;
}

const bodyBytesMax = 2 ** 20;
const path = "/api/graphql";

export const graphqlRoutes = ({ server, explorer }: GraphqlOptions): readonly Endpoint[] => [
  {
    method: "POST",
    kind: "page",
    path,
    name: "graphql",
    body: objectWith(["query"], {
      query: text("At most 100,000 characters, 24 levels, 3,000 fields, 100 aliases"),
      variables: { type: ["object", "null"], description: "By name" },
      operationName: {
        type: ["string", "null"],
        description: "Operation to run, if the query has several",
      },
    }),
    bodyBytesMax,
    conditional: true,
    changes: (body) => String((body as GraphqlBody).query).includes("mutation"),
    reads: ["entities", "timeseries", "relationships", "search"],
    async handle({ body, caller, conditions }) {
      const { query, variables, operationName } = body as GraphqlBody;
      const request: GraphqlRequest = {
        query,
        variables: variables ?? undefined,
        operationName: operationName ?? undefined,
        idempotencyKey: caller.idempotencyKey,
        conditions: asked(conditions),
      };
      return { ...(await server.execute(request, caller.actor)), keep: false };
    },
  },
  ...(explorer === undefined ? [] : [explorerRow(explorer)]),
];

interface GraphqlBody {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
}

const explorerRow = (explorer: ApiResponse): Endpoint => ({
  method: "GET",
  kind: "page",
  path,
  name: "getGraphqlExplorer",
  open: true,
  responseType: "text/html",
  handle: () => explorer,
});
