/** Values of a field of the query language that begin with a text, from the service. */
import { useQuery } from "@tanstack/react-query";
import { search } from "../../api/search.ts";
import { keyOf } from "../../api/urn.ts";
import type { KnownValue } from "./query-completion.ts";
import { fieldNamed } from "./query-fields.ts";

/** Values in the list. */
const valuesMax = 8;

const noValues: readonly KnownValue[] = [];

/** Entities by name, and the most frequent values of other fields. */
async function readValues(
  name: string,
  text: string,
  signal: AbortSignal,
): Promise<readonly KnownValue[]> {
  const field = fieldNamed(name);
  if (field?.kind === "entity" && text !== "") {
    const { hits } = await search({
      query: `${text}*`,
      types: field.types ?? [],
      count: valuesMax,
      signal,
    });
    return hits.map(({ urn }) => ({ value: urn, detail: "" }));
  }
  const { facets } = await search({ query: "*", count: 0, facets: true, signal });
  const lower = text.toLowerCase();
  return (facets.find((facet) => facet.name === name)?.values ?? [])
    .filter(({ value, count }) => count > 0 && keyOf(value).toLowerCase().startsWith(lower))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, valuesMax)
    .map(({ value, count }) => ({ value, detail: count.toLocaleString("en") }));
}

export function useFieldValues(field: string | undefined, text: string): readonly KnownValue[] {
  const kind = fieldNamed(field ?? "")?.kind;
  const { data } = useQuery({
    queryKey: ["search", "values", field, text],
    queryFn: ({ signal }) => readValues(field ?? "", text, signal),
    enabled: kind === "entity" || kind === "facet",
    placeholderData: (before, query) => (query?.queryKey[2] === field ? before : undefined),
    staleTime: 30_000,
  });
  return data ?? noValues;
}
