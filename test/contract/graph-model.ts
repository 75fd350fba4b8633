/**
 * A model of the graph view: a list of edges that is searched from end to end; and random writes in
 * the form that the projection returns.
 */
import fc from "fast-check";
import { position } from "../../src/core/position.ts";
import type {
  Edge,
  Followed,
  GraphWrite,
  Neighbour,
  NeighboursQuery,
  Pair,
  Stamps,
  Steps,
} from "../../src/views/graph/graph.ts";
import type { GraphRow } from "../support/dumped-readers.ts";

/** Urns with special characters of engines and query languages; some have unknown types. */
export const urns: readonly string[] = [
  "urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,a'b\"c;--,PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,100%_sure\\,PROD)",
  "urn:li:dataJob:(urn:li:dataFlow:(x,y,z),`}) DETACH DELETE n //)",
  "urn:li:chart:(looker,$urn)",
  "urn:li:corpuser:ada",
  "urn:li:corpuser:Ada",
  "urn:li:corpuser:áda",
  "urn:li:corpuser:\u{1D49C}da",
  "urn:li:tag:__proto__",
  "urn:li:tag:",
  "urn:li:tag:nul\u0000x",
  "urn:li:nobody:x",
  `urn:li:tag:${"long".repeat(120)}`,
];

export const types: readonly string[] = [
  "OwnedBy",
  "ownedby",
  "toString",
  "r_`Type`",
  "' OR 1=1 --",
];

export const aspects: readonly string[] = ["ownership", "upstreamLineage", "constructor"];

/** An aspect or edge type with this name has edges that lineage follows. */
export const someSteps: Steps = new Map([
  [
    "dataset",
    [
      { direction: "INCOMING", type: "toString", to: new Set(["dataset", "dataJob"]) },
      { direction: "OUTGOING", type: "OwnedBy", to: new Set(["corpuser", "nobody"]) },
      { direction: "OUTGOING", type: "ownedby", to: new Set(["dataset", "tag"]) },
      { direction: "INCOMING", type: "OwnedBy", to: new Set(["dataset"]) },
    ],
  ],
  ["corpuser", [{ direction: "INCOMING", type: "OwnedBy", to: new Set(["dataset", "chart"]) }]],
  ["tag", [{ direction: "OUTGOING", type: "Never", to: new Set(["dataset"]) }]],
]);

const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const time = fc.integer({ min: 1, max: 4e12 });

function edgeAmong(urn: fc.Arbitrary<string>, type: fc.Arbitrary<string>): fc.Arbitrary<Edge> {
  return fc.record({
    source: urn,
    type,
    destination: urn,
    path: fc.constantFrom("/owners/*/owner", "/upstreams/*/dataset"),
    via: sometimes(urn),
    createdOn: sometimes(time),
    createdActor: sometimes(urn),
    updatedOn: sometimes(time),
    updatedActor: sometimes(urn),
    properties: sometimes(
      fc.dictionary(fc.constantFrom("source", "a'b"), fc.string(), { maxKeys: 2 }),
    ),
  });
}

type Step = GraphWrite extends infer W ? (W extends unknown ? Omit<W, "position"> : never) : never;

function stepAmong(urn: fc.Arbitrary<string>, type: fc.Arbitrary<string>): fc.Arbitrary<Step> {
  // Most edges start at the entity itself.
  const edges = fc.array(fc.tuple(edgeAmong(urn, type), fc.nat({ max: 3 })), { maxLength: 4 });
  const replacement = fc
    .record({
      urn,
      aspect: fc.constantFrom(...aspects),
      stamp: fc.record({ time, actor: urn }),
      edges,
    })
    .map((write) => ({
      ...write,
      op: "replace" as const,
      edges: withoutRepeats(
        write.edges.map(([edge, chance]) => (chance === 0 ? edge : { ...edge, source: write.urn })),
      ),
    }));
  return fc.oneof(
    { weight: 12, arbitrary: replacement },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("remove_entity" as const), urn }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("forget" as const), urn }) },
  );
}

/**
 * Writes for a log with the given number of records; some records have no write. Some writes are
 * for a few urns, which share many edges.
 */
export const graphHistories = (
  minLength: number,
  maxLength: number,
): fc.Arbitrary<readonly GraphWrite[]> =>
  fc.constantFrom(2, urns.length).chain((size) => {
    const step = stepAmong(
      fc.constantFrom(...urns.slice(0, size)),
      fc.constantFrom(...types.slice(0, size)),
    );
    const steps = fc.tuple(step, fc.integer({ min: 1, max: 3 }));
    return fc.array(steps, { minLength, maxLength, size: "max" }).map((history) => {
      let last = 0;
      return history.map(([write, gap]) => {
        last += gap;
        return { ...write, position: position(last) } as GraphWrite;
      });
    });
  });

function withoutRepeats(edges: readonly Edge[]): readonly Edge[] {
  const written = new Set<string>();
  return edges.filter((edge) => {
    const key = JSON.stringify([edge.source, edge.type, edge.destination]);
    return written.size < written.add(key).size;
  });
}

export interface GraphModel {
  apply(write: GraphWrite): void;
  /** In the order of Dump.dump. */
  rows(): readonly GraphRow[];
  neighbours(query: NeighboursQuery): { neighbours: readonly Neighbour[]; total: number };
  follow(urns: readonly string[], steps: Steps): readonly Followed[];
  stamps(pair: Pair): Stamps | undefined;
}

export function createGraphModel(): GraphModel {
  let rows: GraphRow[] = [];

  const samePair = (a: Pair, b: Pair): boolean =>
    a.source === b.source && a.type === b.type && a.destination === b.destination;

  function replace(write: Extract<GraphWrite, { op: "replace" }>): void {
    const { urn: entity, aspect, position, stamp, edges } = write;
    const own = (row: GraphRow) => row.entity === entity && row.aspect === aspect;
    const before = rows.filter(own);
    const now = edges.map((edge, ordinal): GraphRow => {
      const old = before.find((row) => samePair(row, edge));
      return {
        entity,
        aspect,
        source: edge.source,
        type: edge.type,
        destination: edge.destination,
        path: edge.path,
        via: edge.via,
        position: old?.position ?? position,
        ordinal: old?.ordinal ?? ordinal,
        createdOn: edge.createdOn ?? old?.createdOn ?? stamp.time,
        createdActor: edge.createdActor ?? old?.createdActor ?? stamp.actor,
        updatedOn: edge.updatedOn ?? stamp.time,
        updatedActor: edge.updatedActor ?? stamp.actor,
        ...(edge.properties !== undefined && { properties: edge.properties }),
      };
    });
    rows = [...rows.filter((row) => !own(row)), ...now];
  }

  /** The first edge of each pair. */
  const pairs = (): readonly GraphRow[] => {
    const ordered = [...rows].sort((a, b) => a.position - b.position || a.ordinal - b.ordinal);
    return ordered.filter((row, i) => ordered.findIndex((other) => samePair(row, other)) === i);
  };

  const neighbourOf = (row: GraphRow, urn: string): Neighbour => ({
    type: row.type,
    urn,
    ...(row.via !== undefined && { via: row.via }),
  });

  return {
    apply(write) {
      const { urn } = write;
      if (write.op === "replace") replace(write);
      else {
        rows = rows.filter(
          (row) =>
            row.entity !== urn &&
            (write.op !== "forget" || (row.source !== urn && row.destination !== urn)),
        );
      }
    },

    rows: () =>
      [...rows].sort(
        (a, b) =>
          byBytes(a.entity, b.entity) ||
          byBytes(a.aspect, b.aspect) ||
          a.position - b.position ||
          a.ordinal - b.ordinal,
      ),

    neighbours({ urn, direction, types, start, count }) {
      const all = [...new Set(types)].flatMap((type) => {
        const own = pairs().filter((row) => row.type === type);
        const out = own.filter((row) => row.source === urn);
        const ins = own.filter((row) => row.destination === urn);
        const outgoing = out.map((row) => neighbourOf(row, row.destination));
        const incoming = ins.map((row) => neighbourOf(row, row.source));
        if (direction === "OUTGOING") return outgoing;
        if (direction === "INCOMING") return incoming;
        const known = new Set(outgoing.map((one) => one.urn));
        return [...outgoing, ...incoming.filter((one) => !known.has(one.urn))];
      });
      return { neighbours: all.slice(start, start + count), total: all.length };
    },

    follow: (urns, steps) =>
      urns.flatMap((from) =>
        (steps.get(from.split(":")[2] ?? "") ?? []).flatMap(({ direction, type, to }) =>
          pairs()
            .filter((row) => row.type === type)
            .flatMap((row): Followed[] => {
              const [near, far] =
                direction === "OUTGOING"
                  ? [row.source, row.destination]
                  : [row.destination, row.source];
              if (near !== from || !to.has(far.split(":")[2] ?? "")) return [];
              return [{ from, to: far, direction, type, via: row.via }];
            }),
        ),
      ),

    stamps(pair) {
      const row = pairs().find((one) => samePair(one, pair));
      if (row === undefined) return undefined;
      const { createdOn, createdActor, updatedOn, updatedActor, properties } = row;
      const stamps = { createdOn, createdActor, updatedOn, updatedActor };
      return properties === undefined ? stamps : { ...stamps, properties };
    },
  };
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
