/**
 * The reader of the aspect view in PostgreSQL, with its own connections.
 *
 * Each query is one statement, so its result is one snapshot; long queries are several statements, one
 * per slice. A statement also reads the live generation: if another has replaced it, the query is
 * repeated with that one. A view that does not exist yet is empty.
 */
import { type AspectState, type EntityState, unknownEntity } from "../../../core/entity-state.ts";
import { CatalogError } from "../../../core/errors.ts";
import { EMPTY_STREAM, position, type Revision, revision, START } from "../../../core/position.ts";
import { appendAll, slicesOf } from "../../../lib/lists.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import type { AspectReader } from "../aspect-table.ts";
import { createUrnPattern, type UrnPattern } from "../urn-like.ts";
import { hashArray } from "./array-parameter.ts";
import { isMissing, openConnections, type PostgresRow, retrying } from "./postgres-connection.ts";
import { lookForLive } from "./postgres-view.ts";
import { type Question, questionsOf } from "./queries.ts";
import { gatherQuestions } from "./query-batching.ts";
import { TABLES_VERSION, VIEW } from "./schema.ts";

const CONNECTIONS_MAX = 8;
const STATEMENT_MS_MAX = 30_000;
/** Maximum number of entities per statement. */
const ENTITIES_PER_SLICE_MAX = 500;
/** Maximum number of swaps of generations during one query. */
const SWAPS_MAX = 5;

/**
 * Every query uses an index, even if statistics are old or missing. Plans are cached, because planning
 * takes longer than execution.
 */
const SETTINGS = `
SET default_transaction_read_only = on;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;`;

type Parameter = string | number | Buffer;

interface Live {
  readonly uuid: string;
  readonly generation: number;
  readonly questions: Readonly<Record<Question, string>>;
}

/** Connects with the first query. */
export async function openPostgresAspectReader(address: ServerAddress): Promise<AspectReader> {
  const connections = openConnections(address, {
    most: CONNECTIONS_MAX,
    timeoutMs: STATEMENT_MS_MAX,
    settings: SETTINGS,
  });
  let live: Live | undefined;

  async function findLive(): Promise<Live | undefined> {
    const found = await lookForLive(connections, address.name);
    live = found && {
      uuid: found.uuid,
      generation: found.tables.generation,
      questions: questionsOf(found.tables),
    };
    return live;
  }

  /** The rows of a query; empty without a view. */
  async function put(question: Question, parameters: readonly Parameter[]) {
    for (let swaps = 0; swaps < SWAPS_MAX; swaps++) {
      const known = live ?? (await findLive());
      if (known === undefined) return [];
      try {
        const rows = await connections.query({
          name: `annals_${question}_g${known.generation}`,
          text: known.questions[question],
          values: [known.uuid, TABLES_VERSION, ...parameters],
        });
        if (rows.length > 0) return rows;
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      if (live === known) live = undefined;
    }
    throw new CatalogError("unavailable", `the view "${VIEW}" changes faster than it can be read`);
  }

  async function ask(
    question: Question,
    ...parameters: Parameter[]
  ): Promise<readonly PostgresRow[]> {
    if (connections.closed) {
      throw new CatalogError("unavailable", `the view "${VIEW}" is closed`);
    }
    return retrying(() => put(question, parameters));
  }

  async function statesOf(urns: readonly string[]): Promise<readonly EntityState[]> {
    const states = new Map<string, Found>();
    for (const urn of urns) states.set(urn, { urn, revision: EMPTY_STREAM, aspects: new Map() });
    for (const row of await ask("states", hashArray([...states.keys()]))) {
      // Another urn may have the same hash; without a match there is a row of nulls.
      const state = row[0] == null ? undefined : states.get(row[0]);
      if (state !== undefined) take(state, row);
    }
    return urns.map((urn) => states.get(urn) ?? unknownEntity(urn));
  }

  const getStates = gatherQuestions(statesOf, ENTITIES_PER_SLICE_MAX);
  const kinds = async () => (await ask("kinds")).flatMap(([prefix]) => prefix ?? []);

  return {
    async position() {
      const [row] = await ask("position");
      return row === undefined ? START : position(Number(row[0]));
    },

    async getEntities(urns) {
      if (urns.length <= ENTITIES_PER_SLICE_MAX) return getStates(urns);
      const states: EntityState[] = [];
      for (const slice of slicesOf(urns, ENTITIES_PER_SLICE_MAX)) {
        appendAll(states, await getStates(slice));
      }
      return states;
    },

    async findValue(urn, aspect, version) {
      if (!isStorable(urn) || !isStorable(aspect)) return undefined;
      const [row] = await ask("value", hashArray([urn]), urn, aspect, version);
      if (row?.[0] == null) return undefined;
      return {
        version: Number(row[0]),
        value: String(row[1]),
        time: Number(row[2]),
        actor: String(row[3]),
        system: String(row[4]),
      };
    },

    async listUrns(entityType, { start, count }) {
      const rows = isStorable(entityType) ? await ask("list", entityType, start, count) : [];
      return { urns: rows.flatMap(([, urn]) => urn ?? []), total: Number(rows[0]?.[0] ?? 0) };
    },

    async urnsAfter(entityType, after, count) {
      if (!isStorable(entityType) || !isStorable(after)) return [];
      const rows = await ask("after", entityType, after, count);
      return rows.flatMap(([urn]) => urn ?? []).slice(0, count);
    },

    async countEntities() {
      const counts = new Map<string, number>();
      for (const [type, count] of await ask("counts")) {
        if (type != null) counts.set(type, Number(count));
      }
      return counts;
    },

    async countAspect(aspect, urnLike = "%") {
      const pattern = createUrnPattern(urnLike);
      let count = 0;
      for (const prefix of await kinds()) {
        if (!isStorable(aspect) || !isStorable(urnLike)) return 0;
        let from = firstUrn(prefix, pattern);
        while (from !== undefined) {
          const [row] = await ask("having", prefix, from, aspect, urnLike);
          count += Number(row?.[0] ?? 0);
          from = row?.[1]?.startsWith(pattern.prefix) ? row[1] : undefined;
        }
      }
      return count;
    },

    close: () => connections.close(),
  };
}

/** PostgreSQL cannot store NUL and lone surrogates, so such a urn cannot exist. */
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/** The first possible match among the urns of a kind; undefined if none can match. */
function firstUrn(prefix: string, pattern: UrnPattern): string | undefined {
  if (pattern.prefix.startsWith(prefix)) return pattern.prefix;
  return prefix.startsWith(pattern.prefix) ? prefix : undefined;
}

interface Found {
  readonly urn: string;
  revision: Revision;
  readonly aspects: Map<string, AspectState>;
}

/** Adds a row, which has one aspect, to the state of its entity. */
function take(state: Found, row: PostgresRow): void {
  const reached = Number(row[1]);
  if (reached > state.revision) state.revision = revision(reached);
  const name = row[2];
  if (name == null) return;
  const last = Number(row[9]);
  if (last > state.revision) state.revision = revision(last);
  state.aspects.set(name, {
    name,
    version: Number(row[3]),
    value: String(row[4]),
    time: Number(row[5]),
    actor: String(row[6]),
    system: JSON.parse(String(row[7])),
    removed: row[8] === "t",
  });
}
