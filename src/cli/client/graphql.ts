/** Queries of GraphQL through the client: for what only GraphQL has, such as tokens and policies. */
import { type AnnalsClient, AnnalsError, dataOf } from "../../client/client.ts";

/** The data of the response. Throws AnnalsError with the first message of GraphQL. */
export async function askGraphql<T>(
  client: AnnalsClient,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const answer = await dataOf(client.POST("/api/graphql", { body: { query, variables } }));
  const { data, errors } = answer as {
    readonly data?: T | null;
    readonly errors?: readonly {
      readonly message: string;
      readonly extensions?: { readonly code?: number };
    }[];
  };
  const [first] = errors ?? [];
  if (first !== undefined) throw errorFor(first.message, first.extensions?.code ?? 400);
  if (data === undefined || data === null) throw errorFor("the response has no data", 500);
  return data;
}

function errorFor(message: string, status: number): AnnalsError {
  const code = status === 401 ? "unauthenticated" : status === 403 ? "forbidden" : "invalid";
  return new AnnalsError(message, status, code);
}
