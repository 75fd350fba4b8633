/**
 * The rows of the graph in Neo4j, for verification: the edges that the aspects of an entity tell.
 * Queries see what is committed while they run, so the checkpoint is asked before and after them:
 * where it stood still, so did the edges.
 */
import { CatalogError } from "../../core/errors.ts";
import { type Position, position, START } from "../../core/position.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { createFitting } from "../../projector/fitting.ts";
import type { Grown } from "../../projector/sink.ts";
import type { HeldRows, Row, ViewRows } from "../../projector/verify/view-rows.ts";
import type { ServerPlace } from "../../projector/view-origin.ts";
import { type Columns, connectNeo4j, whole } from "./connection.ts";
import { COLUMNS, storedEdge } from "./edges.ts";
import { alsoOf, namesOf, TELLS, VIEW } from "./schema.ts";
import type { GrownGraph } from "./view.ts";
import { checkVersion } from "./view-node.ts";

const URNS_MAX = 200;
const NODES_PER_PAGE = 500;
/** Edges of one read; those of a single entity are read whatever their number. */
const EDGES_MAX = 10_000;
const EDGES_OF_ONE_MAX = 10_000_000;
/** How often something is read again that was written meanwhile. */
const TRIES_MAX = 4;

interface Live {
  readonly label: string;
  readonly position: Position;
}

/**
 * Connects with the first question. A view that is not there has no rows. `grown`: of one that nobody
 * is led to yet.
 */
export async function openNeo4jGraphRows(place: ServerPlace, grown?: Grown): Promise<ViewRows> {
  const server = connectNeo4j(place);
  const names = namesOf(place.name);
  const fitting = createFitting(URNS_MAX);

  async function find(): Promise<Live | undefined> {
    server.usable();
    if (grown !== undefined) {
      const { generation, position } = grown as GrownGraph;
      return { label: names.label(generation), position };
    }
    const [columns] = await server.ask({
      text: `MATCH (v:\`${names.view}\` {part: 'live'}) RETURN v.generation, v.version, v.position`,
    });
    if (columns === undefined) return undefined;
    const [generation, version, at] = columns as Columns & readonly [number, number, number];
    checkVersion(version);
    return { label: names.label(generation), position: position(at) };
  }

  /**
   * What a question finds in the live generation. `to` is undefined where it was written to all the
   * time; then the answer may be of any moment since `from`.
   */
  async function ask<T>(
    none: T,
    question: (label: string) => Promise<T>,
  ): Promise<{ readonly from: Position; readonly to: Position | undefined; readonly found: T }> {
    let before = await find();
    for (let tries = 1; ; tries++) {
      if (before === undefined) return { from: START, to: START, found: none };
      const found = await question(before.label);
      const after = await find();
      const stood = after?.label === before.label && after.position === before.position;
      if (stood) return { from: before.position, to: before.position, found };
      const replaced = after?.label !== before.label;
      if (tries >= TRIES_MAX && !replaced) return { from: before.position, to: undefined, found };
      if (tries >= 2 * TRIES_MAX) {
        throw new CatalogError("unavailable", `the view "${VIEW}" is being replaced`);
      }
      before = after;
    }
  }

  /** Undefined when there are too many for one answer. */
  async function edgesOf(
    label: string,
    urns: readonly string[],
  ): Promise<readonly Columns[] | undefined> {
    const most = urns.length === 1 ? EDGES_OF_ONE_MAX : EDGES_MAX;
    const parameters = { urns, most: whole(most) };
    const answers = await Promise.all(
      tellingQueries(label).map((text) => server.ask({ text, parameters })),
    );
    const edges = answers.flatMap(([row]) => (row?.[0] ?? []) as readonly Columns[]);
    return edges.length < most ? edges : undefined;
  }

  return {
    position: async () => (await find())?.position ?? START,

    async read(urns): Promise<HeldRows> {
      for (;;) {
        const asked = fitting.first(urns);
        const { found, ...held } = await ask([], (label) => edgesOf(label, asked));
        fitting.note(Math.floor(asked.length / 2), found !== undefined);
        if (found === undefined) continue;
        const rows = new Map<string, Row[]>(asked.map((urn) => [urn.toWellFormed(), []]));
        for (const columns of found) {
          const { teller, row } = viewRow(columns);
          rows.get(teller)?.push(row);
        }
        return { ...held, rows: asked.map((urn) => rows.get(urn.toWellFormed()) ?? []) };
      }
    },

    async count() {
      // Both are numbers that the server keeps.
      const counted = await ask(0, async (label) => {
        const [all, pointers] = await Promise.all(
          ["r", `r:${TELLS}`].map((which) =>
            server.ask({ text: `MATCH (:\`${label}\`)-[${which}]->() RETURN count(r)` }),
          ),
        );
        return Number(all?.[0]?.[0]) - Number(pointers?.[0]?.[0]);
      });
      const { from, to, found } = counted;
      return { position: from, rows: to === undefined ? undefined : found };
    },

    async *urns() {
      let after: string | undefined = "";
      while (after !== undefined) {
        const from: string = after;
        const { found } = await ask<readonly Told[]>([], async (label) => {
          const [row] = await server.ask({ text: tellersQuery(label), parameters: { from } });
          return (row?.[0] ?? []) as readonly Told[];
        });
        const tellers = new Set(found.flatMap(([, urns]) => urns));
        if (tellers.size > 0) yield [...tellers];
        after = found.length === NODES_PER_PAGE ? found.at(-1)?.[0] : undefined;
      }
    },

    async faults() {
      const { found } = await ask<boolean>(true, async (label) => {
        const rows = await server.ask({
          text: "SHOW CONSTRAINTS YIELD name WHERE name = $label RETURN name",
          parameters: { label },
        });
        return rows.length > 0;
      });
      return found ? [] : ["nothing keeps urns from being there twice: a constraint is gone"];
    },

    close: () => server.close(),
  };
}

/** A node, and the entities that tell edges from there. */
type Told = readonly [urn: string, tellers: readonly string[]];

const tellersQuery = (label: string): string => `
  MATCH (n:\`${label}\`) WHERE n.urn > $from WITH n ORDER BY n.urn LIMIT ${NODES_PER_PAGE}
  OPTIONAL MATCH (n)-[r]->() WHERE type(r) <> '${TELLS}'
  WITH n.urn AS urn,
    collect(DISTINCT CASE WHEN r IS NULL THEN null ELSE coalesce(r.entity, n.urn) END) AS tellers
  ORDER BY urn
  RETURN collect([urn, tellers])`;

/** An edge leads its pair of ends when no other one was told before it. */
const FIRST = `NOT EXISTS { MATCH (s)-[o]->(d)
  WHERE (type(o) = type(r) OR type(o) = type(r) + '${alsoOf("")}'
      OR type(o) + '${alsoOf("")}' = type(r))
    AND (o.position < r.position OR (o.position = r.position AND o.ordinal < r.ordinal)) }`;

/** As the writer finds them: edges that begin at the entity, and those that its pointers lead to. */
const tellingQueries = (label: string): readonly string[] =>
  [
    `MATCH (s:\`${label}\` {urn: urn})-[r]->(d) WHERE r.entity IS NULL AND type(r) <> '${TELLS}'`,
    `MATCH (:\`${label}\` {urn: urn})-[t:${TELLS}]->(s)
     MATCH (s)-[r]->(d) WHERE r.entity = urn AND r.aspect = t.by`,
  ].map(
    (edges) => `UNWIND $urns AS urn ${edges} WITH DISTINCT s, r, d LIMIT $most
      RETURN collect([s.type, d.type, ${FIRST}, ${COLUMNS}])`,
  );

function viewRow(columns: Columns): { readonly teller: string; readonly row: Row } {
  const [sourceType, destinationType, first, ...edge] = columns;
  const { leads, row } = storedEdge(edge);
  const { source, destination, details } = row;
  const typed =
    sourceType === entityTypeOf(source) && destinationType === entityTypeOf(destination);
  return {
    teller: row.entity,
    row: [
      ...[row.aspect ?? "", row.type, source, destination, row.position, row.ordinal],
      ...[details.path, details.via, details.createdOn, details.createdActor],
      ...[details.updatedOn, details.updatedActor, details.properties],
      leads === first && typed ? 1 : 0,
    ],
  };
}
