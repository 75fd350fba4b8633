/** A catalog whose calls are spans: `catalog.ingest`, `catalog.search` and so on. */
import type { Catalog } from "../catalog/catalog.ts";
import type { Traces } from "./traces.ts";

/** Methods without spans: they return at once, or are called too often to be useful. */
const untraced = new Set<string>(["positionOf", "reach", "health", "peek", "entitiesVersion"]);

type Method = (...args: unknown[]) => unknown;

export function traceCatalog<C extends Catalog>(catalog: C, traces: Pick<Traces, "span">): C {
  const traced = Object.entries(catalog).map(([name, method]) => {
    if (untraced.has(name)) return [name, method];
    const call = method as Method;
    // The catalog for one caller is traced, too.
    if (name === "authorizedFor") {
      return [name, (...args: unknown[]) => traceCatalog(call(...args) as Catalog, traces)];
    }
    const inSpan: Method = (...args) =>
      traces.span(`catalog.${name}`, {}, async () => call(...args));
    return [name, inSpan];
  });
  return Object.fromEntries(traced) as C;
}
