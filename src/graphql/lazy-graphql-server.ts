/**
 * Opens the GraphQL server on its first request: its libraries and schema take 10 MB, and most
 * services never use them.
 */
import type { createGraphqlServer, GraphqlServer } from "./graphql-server.ts";

export function createLazyGraphqlServer(
  options: Parameters<typeof createGraphqlServer>[0],
): GraphqlServer {
  let opening: Promise<GraphqlServer> | undefined;
  const open = async (): Promise<GraphqlServer> =>
    (await import("./graphql-server.ts")).createGraphqlServer(options);
  return {
    async execute(request, actor) {
      opening ??= open();
      return (await opening).execute(request, actor);
    },
  };
}
