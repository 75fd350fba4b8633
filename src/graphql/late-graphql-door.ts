/**
 * Opens the GraphQL server on its first request: its libraries and schema take 10 MB, and most
 * services never use them.
 */
import type { createGraphqlDoor, GraphqlDoor } from "./graphql-door.ts";

export function createLateGraphqlDoor(
  options: Parameters<typeof createGraphqlDoor>[0],
): GraphqlDoor {
  let opening: Promise<GraphqlDoor> | undefined;
  const open = async (): Promise<GraphqlDoor> =>
    (await import("./graphql-door.ts")).createGraphqlDoor(options);
  return {
    async execute(request, actor) {
      opening ??= open();
      return (await opening).execute(request, actor);
    },
  };
}
