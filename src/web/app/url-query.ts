/** The query of a URL as texts, so that URLs stay readable and no value is parsed as JSON. */

export type UrlQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

export function parseUrlQuery(text: string): Record<string, string | string[]> {
  const parameters = new URLSearchParams(text);
  const query = new Map<string, string | string[]>();
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query.set(name, values.length === 1 ? (values[0] ?? "") : values);
  }
  return Object.fromEntries(query);
}

export function formatUrlQuery(query: UrlQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of listOf(value)) if (one !== "") parameters.append(name, one);
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** The values of a parameter that may be repeated. */
export const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === "string" ? [value] : value;
