/** Reads the edges of an entity, each with the values of aspects that state it. */
import type { QueryClient } from "@tanstack/react-query";
import type { Aspects } from "../../../api/aspect.ts";
import { readAspects } from "../../../api/entities.ts";
import { read } from "../../../api/http.ts";
import { at, listAt, textAt } from "../../../api/json.ts";
import { typeOf } from "../../../api/urn.ts";
import { columnOf } from "../lineage/column-urn.ts";
import { type AspectModel, modelQuery } from "../model.ts";
import {
  columnStatements,
  keyOfEdge,
  type Statement,
  type Statements,
  statementsOf,
} from "./statements.ts";

export type Direction = "OUTGOING" | "INCOMING";

export interface Edge {
  readonly type: string;
  /** The other end. */
  readonly urn: string;
  readonly statements: readonly Statement[];
}

interface EdgePage {
  readonly edges: readonly Edge[];
  /** Empty at the end. */
  readonly next: string;
}

interface EdgeRequest {
  readonly urn: string;
  readonly direction: Direction;
  readonly scrollId: string;
  readonly signal: AbortSignal;
}

const pageSize = 100;

/** Aspects that state edges between columns. */
const columnAspects = ["upstreamLineage", "inputFields"] as const;

export async function readEdges(request: EdgeRequest, queries: QueryClient): Promise<EdgePage> {
  const { urn, direction, scrollId, signal } = request;
  const query = new URLSearchParams({ direction, count: String(pageSize) });
  if (scrollId !== "") query.set("scrollId", scrollId);
  const path = `/openapi/v3/relationship/${typeOf(urn)}/${encodeURIComponent(urn)}?${query}`;
  const value = await read<unknown>(path, { signal });
  const edges = listAt(value, "results").map((one) => ({
    type: textAt(one, "relationshipType") ?? "",
    source: textAt(at(one, "source"), "urn") ?? "",
    destination: textAt(at(one, "destination"), "urn") ?? "",
  }));
  const holders = [...new Set(edges.map(({ source }) => holderOf(source)))];
  const types = new Set(edges.map(({ type }) => type));
  const models = await modelsOf(holders, queries);
  const names = namesStating(types, models);
  const aspects = await readAspects(holders, names);
  const statements = new Map(
    holders.map((holder) => [
      holder,
      statementsOf(holder, aspects.get(holder) ?? new Map(), models.get(typeOf(holder)) ?? []),
    ]),
  );
  return {
    next: textAt(value, "scrollId") ?? "",
    edges: edges.map(({ type, source, destination }) => ({
      type,
      urn: direction === "OUTGOING" ? destination : source,
      statements: statementsFor({ type, source, destination }, { aspects, statements }),
    })),
  };
}

/** The entity whose aspects state the edges of a source. */
const holderOf = (source: string): string => columnOf(source)?.urn ?? source;

async function modelsOf(
  urns: readonly string[],
  queries: QueryClient,
): Promise<ReadonlyMap<string, readonly AspectModel[]>> {
  const types = [...new Set(urns.map(typeOf))];
  const models = types.map(
    async (type) => [type, await queries.fetchQuery(modelQuery(type))] as const,
  );
  return new Map(await Promise.all(models));
}

function namesStating(
  types: ReadonlySet<string>,
  models: ReadonlyMap<string, readonly AspectModel[]>,
): readonly string[] {
  const stating = [...models.values()]
    .flat()
    .filter(({ relationships }) => relationships.some(({ name }) => types.has(name)));
  return [...new Set([...stating.map(({ name }) => name), ...columnAspects])];
}

interface Read {
  readonly aspects: ReadonlyMap<string, Aspects>;
  readonly statements: ReadonlyMap<string, Statements>;
}

function statementsFor(
  edge: { readonly type: string; readonly source: string; readonly destination: string },
  { aspects, statements }: Read,
): readonly Statement[] {
  const holder = holderOf(edge.source);
  if (holder !== edge.source) {
    const found = columnStatements(holder, aspects.get(holder) ?? new Map(), edge);
    if (found.length > 0) return found;
  }
  return statements.get(holder)?.get(keyOfEdge(edge.type, edge.destination)) ?? [];
}
