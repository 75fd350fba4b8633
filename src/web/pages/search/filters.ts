/** Filters of a search in the URL: `field:value`, repeated. */

export type Filters = ReadonlyMap<string, readonly string[]>;

export function filtersOf(texts: readonly string[]): Filters {
  const filters = new Map<string, readonly string[]>();
  for (const text of texts) {
    const end = text.indexOf(":");
    if (end <= 0) continue;
    const field = text.slice(0, end);
    filters.set(field, [...(filters.get(field) ?? []), text.slice(end + 1)]);
  }
  return filters;
}

export const filterTexts = (filters: Filters): readonly string[] =>
  [...filters].flatMap(([field, values]) => values.map((value) => `${field}:${value}`));

/** Adds a value to the filter of a field, or removes it. */
export function toggleFilter(filters: Filters, field: string, value: string): Filters {
  const values = filters.get(field) ?? [];
  const next = values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
  const all = new Map(filters);
  if (next.length === 0) all.delete(field);
  else all.set(field, next);
  return all;
}
