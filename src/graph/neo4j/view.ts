/**
 * What the graph in a Neo4j server says of itself: its generation, its checkpoint, what it was made
 * of. Whoever writes takes the lock of that node first, so that one writes at a time, and goes on
 * only from where it knows the view to be.
 *
 * A generation is a label with a constraint. One that is regrown has a node of its own beside the
 * live one, and takes its place in one transaction; labels that neither node names are leftovers.
 */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../core/errors.ts";
import { ownCommand } from "../../core/own-command.ts";
import { type Position, position, START } from "../../core/position.ts";
import {
  checkNotBehind,
  type Emptied,
  judge,
  type ServerView,
  severalModels,
} from "../../projector/view-origin.ts";
import { type Columns, type Neo4jServer, type Transaction, whole } from "./connection.ts";
import { type Names, VERSION, VIEW } from "./schema.ts";

type Part = "live" | "regrown";

/** Nodes and edges that one transaction takes without harm. */
const EMPTIED_IN_PLACE_MAX = 20_000;

/**
 * Writes in a transaction, once or more than once. It may read at once, and writes when its turn has
 * come; there is nothing to write where that is false.
 */
export type Writing = (transaction: Transaction, turn: Promise<boolean>) => Promise<void>;

export interface View {
  /** The label of the generation that is written. */
  readonly label: string;
  position(): Promise<Position>;
  /** One transaction that moves the checkpoint from where it is known to be. */
  commit(upTo: Position, write: Writing): Promise<void>;
  /** One transaction that leaves the checkpoint where it is. */
  mend(write: Writing): Promise<void>;
  /** The checkpoint as this writer knows it. */
  known(): Position;
  /** Begins the next generation, empty. */
  reset(): Promise<void>;
  /** Takes the place of the one that it was grown beside. */
  publish(): Promise<void>;
  close(outcome: "keep" | "discard"): Promise<void>;
}

interface State {
  readonly generation: number;
  readonly position: Position;
  readonly version: number;
  readonly writer: string | null;
  readonly model: string | null;
  readonly log: string | null;
  /** Names the last move of the checkpoint. */
  readonly commit: string | null;
}

const COLUMNS = "v.generation, v.position, v.version, v.writer, v.model, v.log, v.commit";

export async function openView(server: Neo4jServer, names: Names, view: ServerView): Promise<View> {
  const writer = randomUUID();
  const model = view.watched ? undefined : view.model;
  const part: Part = view.bulk ? "regrown" : "live";
  const generations = createGenerations(server, names);
  async function open(): Promise<State> {
    await generations.prepare();
    const opened = await (view.bulk
      ? beginRegrown(server, names, generations, view, writer)
      : openLive(server, names, generations, view));
    // Somebody else may have cleared away what nothing named yet.
    await generations.constrain(opened.generation);
    return opened;
  }
  let state: State | undefined = await open();
  let published = false;

  const stateIn = (transaction: Transaction, which: Part) => readState(transaction, names, which);

  /** A view that is not as this writer knows it is a conflict. */
  function expectUnmoved(now: State | undefined): void {
    if (state !== undefined && now !== undefined && sameView(state, now)) return;
    state = undefined;
    const at = now === undefined ? "gone" : `moved to position ${now.position}`;
    throw new CatalogError("conflict", `the view "${VIEW}" was ${at} by another projector`);
  }

  const locked = async (transaction: Transaction): Promise<void> =>
    expectUnmoved(await lockState(transaction, names, part));

  /** As this writer left it: nothing has moved it, and nothing has taken its place. */
  const sameView = (before: State, now: State): boolean =>
    before.generation === now.generation &&
    before.position === now.position &&
    (part === "live" || now.writer === writer);

  /** A small view keeps its generation: what the server has prepared for it is not prepared anew. */
  async function emptyInPlace(): Promise<boolean> {
    return server.write(async (transaction) => {
      const now = await lockState(transaction, names, part);
      if (now === undefined) return false;
      const label = names.label(now.generation);
      const [[edges] = [], [nodes] = []] = await Promise.all([
        transaction.run(`MATCH (:\`${label}\`)-[r]->() RETURN count(r)`),
        transaction.run(`MATCH (n:\`${label}\`) RETURN count(n)`),
      ]).then((answers) => answers.map(([columns]) => columns));
      if (Number(edges) + Number(nodes) > EMPTIED_IN_PLACE_MAX) return false;
      await transaction.run(`MATCH (n:\`${label}\`) DETACH DELETE n`);
      await transaction.run(`MATCH (v:\`${names.view}\` {part: $part}) SET v.position = 0`, {
        part,
      });
      state = { ...now, position: START };
      return true;
    });
  }

  async function publish(): Promise<void> {
    if (part === "live" || published) return;
    await server.write(async (transaction) => {
      const live = await lockState(transaction, names, "live");
      await locked(transaction);
      checkNotBehind(VIEW, known().position, live?.position);
      await transaction.run(takePlace(names), { writer });
    });
    published = true;
  }

  const known = (): State => {
    if (state === undefined) {
      throw new CatalogError("conflict", `the view "${VIEW}" was moved by another projector`);
    }
    return state;
  };

  return {
    get label() {
      return names.label(known().generation);
    },
    known: () => known().position,

    async position() {
      const found = await server.write((transaction) => stateIn(transaction, part));
      if (found !== undefined) {
        state = found;
        if (part === "live") view.onStale?.(judge(found, view) === "stale");
      } else if (part === "live") state = await open();
      else throw new CatalogError("conflict", `the view "${VIEW}" is regrown by another process`);
      return state.position;
    },

    async commit(upTo, write) {
      const token = randomUUID();
      const before = known();
      await server.write(async (transaction) => {
        const turn = lockState(transaction, names, part).then((now) => {
          // A commit whose answer was lost is not done twice.
          if (now?.commit === token) return false;
          expectUnmoved(now);
          return true;
        });
        const moved = transaction.run(
          `MATCH (v:\`${names.view}\` {part: $part}) SET v.position = $upTo, v.commit = $token,
             v.model = ${FED}`,
          { part, token, upTo: whole(upTo), model: model ?? null },
        );
        await Promise.all([turn, moved, write(transaction, turn)]);
      });
      state = { ...before, position: upTo };
    },

    async mend(write) {
      known();
      await server.write(async (transaction) => {
        const turn = locked(transaction).then(() => true);
        await Promise.all([turn, write(transaction, turn)]);
      });
    },

    async reset() {
      if (await emptyInPlace()) return;
      const generation = await generations.begin();
      await server.write(async (transaction) => {
        await lockState(transaction, names, part);
        await transaction.run(
          `MATCH (v:\`${names.view}\` {part: $part}) SET v.position = 0, v.generation = $generation`,
          { part, generation: whole(generation) },
        );
      });
      state = await server.write((transaction) => stateIn(transaction, part));
      await generations.constrain(generation);
      await generations.clear();
    },

    publish,

    async close(outcome) {
      if (part === "live" || server.closed) return;
      if (!published && outcome === "keep") await publish();
      if (!published) {
        await server.write((transaction) => transaction.run(dropRegrown(names), { writer }));
      }
      await generations.clear();
    },
  };
}

/** The model of a view that the one of the parameter has fed. */
const FED = `CASE WHEN $model IS NULL OR v.model IS NULL OR v.model = $model THEN v.model
  ELSE '${severalModels}' END`;

const takePlace = (names: Names): string => `
  MATCH (r:\`${names.view}\` {part: 'regrown', writer: $writer})
  MERGE (v:\`${names.view}\` {part: 'live'})
  SET v = r {.*, part: 'live'} DETACH DELETE r`;

const dropRegrown = (names: Names): string =>
  `MATCH (r:\`${names.view}\` {part: 'regrown', writer: $writer}) DETACH DELETE r`;

const stateOf = (columns: Columns): State => {
  const [generation, at, version, writer, model, log, commit] = columns as readonly [
    ...[generation: number, at: number, version: number],
    ...[writer: string | null, model: string | null, log: string | null, commit: string | null],
  ];
  return { generation, position: position(at), version, writer, model, log, commit };
};

async function readState(
  transaction: Transaction,
  names: Names,
  part: Part,
): Promise<State | undefined> {
  const [columns] = await transaction.run(
    `MATCH (v:\`${names.view}\` {part: $part}) RETURN ${COLUMNS}`,
    { part },
  );
  return columns && stateOf(columns);
}

/** What is read before the lock is there may be old. */
async function lockState(transaction: Transaction, names: Names, part: Part) {
  const [, state] = await Promise.all([
    transaction.run(`MATCH (v:\`${names.view}\` {part: $part}) SET v.locked = true`, { part }),
    readState(transaction, names, part),
  ]);
  return state;
}

type Generations = ReturnType<typeof createGenerations>;

/** Opens the view that readers see; makes one if there is none, and a new one of another origin. */
async function openLive(
  server: Neo4jServer,
  names: Names,
  generations: Generations,
  view: ServerView,
): Promise<State> {
  const { model, log } = view.watched ? {} : view;
  const next = await server.write((transaction) => readState(transaction, names, "live"));
  if (next !== undefined) checkVersion(next.version);
  const why = next && emptiedBy(next, view);
  if (next !== undefined) view.onStale?.(judge(next, view) === "stale");
  // A new generation has its constraint before anything names it.
  const generation =
    next === undefined || why !== undefined
      ? await generations.begin({ reuse: next === undefined })
      : next.generation;
  const ahead = next !== undefined && judge(next, view) === "ahead";
  const state = await server.write(async (transaction) => {
    await transaction.run(
      `MERGE (v:\`${names.view}\` {part: 'live'})
       ON CREATE SET v.view = '${VIEW}', v.version = ${VERSION}, v.generation = $generation,
         v.position = 0`,
      { generation: whole(generation) },
    );
    const now = await lockState(transaction, names, "live");
    if (why !== undefined && now !== undefined && emptiedBy(now, view) !== undefined) {
      await transaction.run(
        `MATCH (v:\`${names.view}\` {part: 'live'})
         SET v.generation = $generation, v.position = 0, v.model = $model`,
        { generation: whole(generation), model: model ?? null },
      );
    }
    if (!ahead) {
      await transaction.run(
        `MATCH (v:\`${names.view}\` {part: 'live'})
         SET v.model = coalesce(v.model, $model), v.log = coalesce($log, v.log)`,
        { model: model ?? null, log: log?.id ?? null },
      );
    }
    return readState(transaction, names, "live");
  });
  if (state === undefined) {
    throw new CatalogError("conflict", `the view "${VIEW}" is removed by another process`);
  }
  if (why !== undefined && next !== undefined && next.position > START) view.onEmptied?.(why);
  if (next === undefined || why !== undefined) await generations.clear();
  return state;
}

/** A view to grow beside the live one; what another left that died goes. */
async function beginRegrown(
  server: Neo4jServer,
  names: Names,
  generations: Generations,
  { model, log }: ServerView,
  writer: string,
): Promise<State> {
  const generation = await generations.begin();
  const state = await server.write(async (transaction) => {
    await transaction.run(
      `MERGE (v:\`${names.view}\` {part: 'regrown'})
       SET v = {part: 'regrown', view: '${VIEW}', version: ${VERSION}, generation: $generation,
         position: 0, writer: $writer, model: $model, log: $log}`,
      { generation: whole(generation), writer, model: model ?? null, log: log?.id ?? null },
    );
    return readState(transaction, names, "regrown");
  });
  if (state === undefined) {
    throw new CatalogError("conflict", `the view "${VIEW}" is regrown by another process`);
  }
  await generations.clear();
  return state;
}

function emptiedBy(state: State, view: ServerView): Emptied | undefined {
  const verdict = judge(state, view);
  return verdict === "another model" || verdict === "another log" ? verdict : undefined;
}

export function checkVersion(version: number): void {
  if (version === VERSION) return;
  const rebuild = ownCommand(`rebuild ${VIEW}`);
  const newer = version > VERSION;
  throw new CatalogError(
    "unavailable",
    `the view "${VIEW}" was made by ${newer ? "a newer" : "an older"} release (version ${version} of its shape, this one has ${VERSION})`,
    { hint: newer ? `Start that release, or run: ${rebuild}` : `Run: ${rebuild}` },
  );
}

/** Labels of generations, by the constraints on them: the first to come and the last to go. */
function createGenerations(server: Neo4jServer, names: Names) {
  const constrainLabel = async (label: string, property: string): Promise<void> => {
    try {
      await server.command(
        `CREATE CONSTRAINT \`${label}\` IF NOT EXISTS
         FOR (n:\`${label}\`) REQUIRE n.${property} IS UNIQUE`,
      );
    } catch (error) {
      // Somebody else was making it.
      if (!/AlreadyExists/.test(String((error as { code?: unknown }).code))) throw error;
    }
  };

  async function all(): Promise<readonly number[]> {
    const found = await server.command("SHOW CONSTRAINTS YIELD name RETURN name");
    return found.flatMap(([name]) => names.generationOf(String(name)) ?? []);
  }

  const constrain = (generation: number) => constrainLabel(names.label(generation), "urn");

  return {
    prepare: () => constrainLabel(names.view, "part"),
    constrain,

    /**
     * The label of a new generation, with nothing under it. Where there is no view any more, a label
     * that is left and empty will do; else a number is not used twice, for readers may know it.
     */
    async begin({ reuse = false } = {}): Promise<number> {
      const taken = await all();
      for (const one of reuse ? taken : []) {
        const [found] = await server.command(`MATCH (n:\`${names.label(one)}\`) RETURN count(n)`);
        if (found?.[0] === 0) return one;
      }
      const generation = Math.max(0, ...taken) + 1;
      await constrain(generation);
      return generation;
    },

    /** Removes what no view names. */
    async clear(): Promise<void> {
      const named = await server.write((transaction) =>
        transaction.run(`MATCH (v:\`${names.view}\`) RETURN v.generation`),
      );
      const kept = new Set(named.map(([generation]) => generation));
      for (const generation of await all()) {
        if (!kept.has(generation)) await removeGeneration(server, names.label(generation));
      }
    },
  };
}

/** What one transaction of a removal takes away. */
const REMOVED_AT_ONCE = 5_000;

async function removeGeneration(server: Neo4jServer, label: string): Promise<void> {
  const first = `MATCH (n:\`${label}\`) WITH n LIMIT ${REMOVED_AT_ONCE}`;
  const edges = `${first} MATCH (n)-[r]-() WITH DISTINCT r LIMIT ${REMOVED_AT_ONCE}
    DELETE r RETURN count(*)`;
  const nodes = `${first} WHERE NOT EXISTS { (n)--() } DELETE n RETURN count(*)`;
  const some = async (query: string): Promise<boolean> => {
    const [row] = await server.write((transaction) => transaction.run(query));
    return Number(row?.[0]) > 0;
  };
  do {
    while (await some(edges));
  } while (await some(nodes));
  await server.command(`DROP CONSTRAINT \`${label}\` IF EXISTS`);
}
