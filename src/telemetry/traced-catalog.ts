/** A catalog whose calls are spans: `catalog.ingest`, `catalog.search` and so on. */
import type { Catalog } from "../catalog/catalog.ts";
import type { Traces } from "./traces.ts";

/** What answers at once, or is asked all the time and tells nothing. */
const untraced = new Set<string>(["positionOf", "reach", "health", "peek", "edition"]);

type Method = (...args: unknown[]) => unknown;

export function traceCatalog<C extends Catalog>(catalog: C, traces: Pick<Traces, "span">): C {
  const traced = Object.entries(catalog).map(([name, method]) => {
    if (untraced.has(name)) return [name, method];
    const call = method as Method;
    // What somebody sees of it is a catalog, too.
    if (name === "authorizedFor") {
      return [name, (...args: unknown[]) => traceCatalog(call(...args) as Catalog, traces)];
    }
    const inSpan: Method = (...args) =>
      traces.span(`catalog.${name}`, {}, async () => call(...args));
    return [name, inSpan];
  });
  return Object.fromEntries(traced) as C;
}
