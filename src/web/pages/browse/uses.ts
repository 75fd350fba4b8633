/** How many entities refer to others by a field. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { countValues } from "../../api/search.ts";

const none: ReadonlyMap<string, number> = new Map();

/** Counts by urn, of the entities that a search with the urn as filter finds. */
export function useUses(field: string, urns: readonly string[]): ReadonlyMap<string, number> {
  const { data = none } = useQuery({
    queryKey: ["search", "uses", field, urns],
    queryFn: async ({ signal }) => {
      const facets = await countValues({ query: "*", signal }, new Map([[field, urns]]));
      const values = facets.flatMap((facet) => facet.values).filter(({ count }) => count > 0);
      return new Map(values.map(({ value, count }) => [value, count]));
    },
    placeholderData: keepPreviousData,
    enabled: field !== "" && urns.length > 0,
  });
  return data;
}
