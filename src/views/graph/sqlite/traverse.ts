/**
 * Follows edges from many nodes: one query per slice, entity type and direction. If a node has too many
 * edges for one query, they are read in pages.
 */
import type { DatabaseSync } from "node:sqlite";
import { splitUrn, typeOf } from "../../../storage/split-urn.ts";
import { type Prepared, preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { Followed, Step, Steps } from "../graph.ts";
import type { GraphNumbers } from "./id-dictionary.ts";

/** Edges per query, before it yields to other requests: about ten milliseconds. */
const EDGES_PER_GO_MAX = 4_000;

/** More than an entity type has steps. */
const STEPS_MAX = 1_024;

/** The end of a page of edges. */
export type EdgeCursor = readonly [position: number, ordinal: number];
export const FIRST_PLACE: EdgeCursor = [-1, -1];

interface Following {
  /** The edges of several urns, in order; undefined if there are too many for one query. */
  batch(urns: readonly string[], steps: Steps): readonly Followed[] | undefined;
  /** Edges of one urn and step after `after`; `last` is set if there may be more. */
  page(
    urn: string,
    step: Step,
    after: EdgeCursor,
  ): { readonly edges: readonly Followed[]; readonly last: EdgeCursor | undefined };
}

export const stepsOf = (urn: string, steps: Steps): readonly Step[] =>
  steps.get(typeOf(splitUrn(urn).prefix)) ?? [];

const DIRECTIONS = ["OUTGOING", "INCOMING"] as const;

type BatchRow = readonly [kind: number, rest: string, via: number | null, at: number, type: number];
type PageRow = readonly [
  ...[kind: number, rest: string, via: number | null],
  ...[position: number, ordinal: number],
];

/** A step with numbers instead of names. */
interface Compiled {
  readonly step: Step;
  /** Its index among the steps of its entity type. */
  readonly rank: number;
  readonly type: number;
  readonly kinds: ReadonlySet<number>;
}

export function createFollowing(db: DatabaseSync, numbers: GraphNumbers): Following {
  const batches = {
    OUTGOING: prepareBatch(db, OUTGOING),
    INCOMING: prepareBatch(db, INCOMING),
  };
  const pages = {
    OUTGOING: preparePage(db, OUTGOING),
    INCOMING: preparePage(db, INCOMING),
  };

  /** Omits steps with types, or to entity types, that no edge has. */
  function compile(steps: readonly Step[]): readonly Compiled[] {
    return steps.flatMap((step, rank) => {
      const type = numbers.nameOf(step.type);
      const kinds = [...numbers.kinds()].filter(([, entityType]) => step.to.has(entityType));
      if (type === undefined || kinds.length === 0) return [];
      return [{ step, rank, type, kinds: new Set(kinds.map(([kind]) => kind)) }];
    });
  }

  function edgeOf(from: string, step: Step, row: BatchRow | PageRow): Followed {
    const { direction, type } = step;
    const to = numbers.urnOfRow(row[0], row[1]);
    const via = row[2] === null ? undefined : numbers.urnOf(row[2]);
    return { from, to, direction, type, via };
  }

  /** Edges with their sort keys: by urn, then by step. */
  interface Found {
    readonly edges: Followed[];
    readonly places: number[];
  }

  /** Finds edges of urns of one type; false if there are too many for one query. */
  function find(
    urns: readonly string[],
    own: readonly number[],
    compiled: readonly Compiled[],
    { edges, places }: Found,
  ): boolean {
    const nodes = own.map((at) => numbers.nodeOf(urns[at] ?? "") ?? 0);
    for (const direction of DIRECTIONS) {
      const steps = compiled.filter(({ step }) => step.direction === direction);
      if (steps.length === 0) continue;
      const byType = new Map(steps.map((one) => [one.type, one]));
      const kinds = new Set(steps.flatMap((one) => [...one.kinds]));
      const lists = [nodes, [...byType.keys()], [...kinds]].map((list) => JSON.stringify(list));
      const rows = batches[direction].all(...lists, EDGES_PER_GO_MAX);
      if (rows.length === EDGES_PER_GO_MAX) return false;
      for (const row of rows) {
        const one = byType.get(row[4]);
        if (one === undefined || !one.kinds.has(row[0])) continue;
        const at = own[row[3]] ?? 0;
        edges.push(edgeOf(urns[at] ?? "", one.step, row));
        places.push(at * STEPS_MAX + one.rank);
      }
    }
    return true;
  }

  return {
    batch(urns, steps) {
      const found: Found = { edges: [], places: [] };
      const groups = Map.groupBy(urns.keys(), (at) => stepsOf(urns[at] ?? "", steps));
      for (const [own, ats] of groups) if (!find(urns, ats, compile(own), found)) return undefined;
      return inOrder(found.edges, found.places);
    },

    page(urn, step, after) {
      const node = numbers.nodeOf(urn);
      const [compiled] = compile([step]);
      if (node === undefined || compiled === undefined) return { edges: [], last: undefined };
      const { type, kinds } = compiled;
      const rows = pages[step.direction].all(
        ...[node, type, JSON.stringify([...kinds]), ...after, EDGES_PER_GO_MAX],
      );
      const last = rows.length === EDGES_PER_GO_MAX ? rows.at(-1) : undefined;
      return {
        edges: rows.map((row) => edgeOf(urn, step, row)),
        last: last && [last[3], last[4]],
      };
    },
  };
}

/** Sorts edges by their keys; stable. */
function inOrder(edges: readonly Followed[], places: readonly number[]): readonly Followed[] {
  const at = (index: number): number => places[index] ?? 0;
  if (places.every((place, i) => i === 0 || at(i - 1) <= place)) return edges;
  return [...edges.keys()].sort((a, b) => at(a) - at(b)).flatMap((index) => edges[index] ?? []);
}

const OUTGOING = { index: "edge_out", near: "source", far: "destination" } as const;
const INCOMING = { index: "edge_in", near: "destination", far: "source" } as const;
type Side = typeof OUTGOING | typeof INCOMING;

/**
 * ?1: nodes. ?2: types. ?3: kinds at the other end. Each a JSON array. ?4: limit. CROSS JOIN and
 * INDEXED BY fix the query plan: nodes in their order, and one index range per type.
 */
function prepareBatch(db: DatabaseSync, { index, near, far }: Side): Prepared<BatchRow> {
  return preparingOn(db).arrays(`
    SELECT ${far}_kind, node.rest, via, asked.key, edge.type
    FROM json_each(?1) AS asked
    CROSS JOIN edge INDEXED BY ${index}
      ON ${near} = asked.value AND edge.type IN (SELECT value FROM json_each(?2)) AND leads = 1
      AND ${far}_kind IN (SELECT value FROM json_each(?3))
    CROSS JOIN node ON node.id = ${far}
    LIMIT ?4`);
}

/** ?1: the node. ?2: the type. ?3: kinds at the other end. ?4, ?5: position, ordinal. ?6: limit. */
function preparePage(db: DatabaseSync, { index, near, far }: Side): Prepared<PageRow> {
  return preparingOn(db).arrays(`
    SELECT ${far}_kind, node.rest, via, position, ordinal
    FROM edge INDEXED BY ${index} CROSS JOIN node ON node.id = ${far}
    WHERE ${near} = ?1 AND type = ?2 AND leads = 1 AND (position, ordinal) > (?4, ?5)
      AND ${far}_kind IN (SELECT value FROM json_each(?3))
    ORDER BY position, ordinal LIMIT ?6`);
}
