/**
 * The GraphQL door, opened with the first request: its libraries and schema take 10 MB, which most
 * services never need.
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
