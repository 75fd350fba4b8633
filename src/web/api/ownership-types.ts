/** The types of ownership: those of the system, and those that users have added. */
import { queryOptions } from "@tanstack/react-query";
import { queryGraphql } from "./http.ts";

const query = `query ($input: ListOwnershipTypesInput!) {
  listOwnershipTypes(input: $input) { ownershipTypes { urn info { name } } }
}`;

interface Reply {
  readonly listOwnershipTypes: {
    readonly ownershipTypes: readonly {
      readonly urn: string;
      readonly info: { readonly name: string } | null;
    }[];
  };
}

export const ownershipTypesQuery = queryOptions({
  queryKey: ["ownership types"],
  queryFn: async () => {
    const { listOwnershipTypes } = await queryGraphql<Reply>(query, { input: { count: 100 } });
    return listOwnershipTypes.ownershipTypes;
  },
  staleTime: 60_000,
});

/** The member of the enum that the service stores beside the urn of the type. */
export const ownerTypeOf = (typeUrn = ":__system__none"): string =>
  /:__system__(\w+)$/.exec(typeUrn)?.[1]?.toUpperCase() ?? "CUSTOM";
