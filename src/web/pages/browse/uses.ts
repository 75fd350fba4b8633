/** How many entities refer to others by a field, for the most frequent values. */
import { useQuery } from "@tanstack/react-query";
import { search } from "../../api/search.ts";

const none: ReadonlyMap<string, number> = new Map();

/** Counts by urn. */
export function useUses(field: string): ReadonlyMap<string, number> {
  const { data } = useQuery({
    queryKey: ["search", "uses"],
    queryFn: ({ signal }) => search({ query: "*", count: 0, facets: true, signal }),
  });
  const values = data?.facets.find(({ name }) => name === field)?.values;
  if (values === undefined) return none;
  return new Map(values.filter(({ count }) => count > 0).map(({ value, count }) => [value, count]));
}
