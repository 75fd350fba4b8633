/**
 * The rows of the graph in Neo4j, for verification: the edges that the aspects of an entity state.
 * Queries see commits while they run, so the checkpoint is read before and after them: if it did
 * not change, the edges did not, either.
 */
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position, START } from "../../../core/position.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { Staged } from "../../../projector/sink.ts";
import type { Row, RowSnapshot, ViewRows } from "../../../projector/verify/view-rows.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import { type Columns, connectNeo4j, whole } from "./connection.ts";
import { COLUMNS, storedEdge } from "./edges.ts";
import { checkVersion } from "./metadata-node.ts";
import { alsoOf, namesOf, STATES, VIEW } from "./schema.ts";
import type { StagedGraph } from "./view.ts";

const NODES_PER_PAGE = 500;
/** Maximum number of edges of a read with several entities. */
const EDGES_MAX = 10_000;
const EDGES_OF_ONE_MAX = 10_000_000;
/** Maximum number of reads if writes interfere. */
const TRIES_MAX = 4;

interface Live {
  readonly label: string;
  readonly position: Position;
}

/**
 * Connects with the first query. A view that does not exist has no rows. `staged`: reads a staging
 * generation.
 */
export async function openNeo4jGraphRows(
  address: ServerAddress,
  staged?: Staged,
): Promise<ViewRows> {
  const server = connectNeo4j(address);
  const names = namesOf(address.name);

  async function find(): Promise<Live | undefined> {
    server.usable();
    if (staged !== undefined) {
      const { generation, position } = staged as StagedGraph;
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
   * Runs a query on the live generation. `to` is undefined if writes interfered each time; then the
   * result may be of any position since `from`.
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

  /** Undefined if there are too many for one result. */
  async function edgesOf(
    label: string,
    urns: readonly string[],
  ): Promise<readonly Columns[] | undefined> {
    const most = urns.length === 1 ? EDGES_OF_ONE_MAX : EDGES_MAX;
    const parameters = { urns, most: whole(most) };
    const answers = await Promise.all(
      ownedQueries(label).map((text) => server.ask({ text, parameters })),
    );
    const edges = answers.flatMap(([row]) => (row?.[0] ?? []) as readonly Columns[]);
    return edges.length < most ? edges : undefined;
  }

  return {
    position: async () => (await find())?.position ?? START,

    async read(urns): Promise<RowSnapshot> {
      for (let asked = urns; ; asked = asked.slice(0, Math.ceil(asked.length / 2))) {
        const { found, ...held } = await ask([], (label) => edgesOf(label, asked));
        if (found === undefined) continue;
        const rows = new Map<string, Row[]>(asked.map((urn) => [urn.toWellFormed(), []]));
        for (const columns of found) {
          const { owner, row } = viewRow(columns);
          rows.get(owner)?.push(row);
        }
        return { ...held, rows: asked.map((urn) => rows.get(urn.toWellFormed()) ?? []) };
      }
    },

    async count() {
      // The server stores both counts.
      const counted = await ask(0, async (label) => {
        const [all, pointers] = await Promise.all(
          ["r", `r:${STATES}`].map((which) =>
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
        const { found } = await ask<readonly Owned[]>([], async (label) => {
          const [row] = await server.ask({ text: ownersQuery(label), parameters: { from } });
          return (row?.[0] ?? []) as readonly Owned[];
        });
        const owners = new Set(found.flatMap(([, urns]) => urns));
        if (owners.size > 0) yield [...owners];
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
      return found ? [] : ["the constraint on unique urns is missing"];
    },

    close: () => server.close(),
  };
}

/** A node, and the entities that state edges from it. */
type Owned = readonly [urn: string, owners: readonly string[]];

const ownersQuery = (label: string): string => `
  MATCH (n:\`${label}\`) WHERE n.urn > $from WITH n ORDER BY n.urn LIMIT ${NODES_PER_PAGE}
  OPTIONAL MATCH (n)-[r]->() WHERE type(r) <> '${STATES}'
  WITH n.urn AS urn,
    collect(DISTINCT CASE WHEN r IS NULL THEN null ELSE coalesce(r.entity, n.urn) END) AS owners
  ORDER BY urn
  RETURN collect([urn, owners])`;

/** An edge leads its pair of ends if no other one was stated before it. */
const FIRST = `NOT EXISTS { MATCH (s)-[o]->(d)
  WHERE (type(o) = type(r) OR type(o) = type(r) + '${alsoOf("")}'
      OR type(o) + '${alsoOf("")}' = type(r))
    AND (o.position < r.position OR (o.position = r.position AND o.ordinal < r.ordinal)) }`;

/**
 * The queries of the writer: edges that begin at the entity, and those that its pointers lead to.
 */
const ownedQueries = (label: string): readonly string[] =>
  [
    `MATCH (s:\`${label}\` {urn: urn})-[r]->(d) WHERE r.entity IS NULL AND type(r) <> '${STATES}'`,
    `MATCH (:\`${label}\` {urn: urn})-[t:${STATES}]->(s)
     MATCH (s)-[r]->(d) WHERE r.entity = urn AND r.aspect = t.by`,
  ].map(
    (edges) => `UNWIND $urns AS urn ${edges} WITH DISTINCT s, r, d LIMIT $most
      RETURN collect([s.type, d.type, ${FIRST}, ${COLUMNS}])`,
  );

function viewRow(columns: Columns): { readonly owner: string; readonly row: Row } {
  const [sourceType, destinationType, first, ...edge] = columns;
  const { leads, row } = storedEdge(edge);
  const { source, destination, details } = row;
  const typed =
    sourceType === entityTypeOf(source) && destinationType === entityTypeOf(destination);
  return {
    owner: row.entity,
    row: [
      ...[row.aspect ?? "", row.type, source, destination, row.position, row.ordinal],
      ...[details.path, details.via, details.createdOn, details.createdActor],
      ...[details.updatedOn, details.updatedActor, details.properties],
      leads === first && typed ? 1 : 0,
    ],
  };
}
