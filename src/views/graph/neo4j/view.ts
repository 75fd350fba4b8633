/**
 * The graph in a Neo4j server, for its writer. A writer first locks the metadata node (metadata-node.ts),
 * so that there is one writer at a time, and continues only if the view is at the expected position.
 *
 * A staging generation has its own metadata node, and replaces the live generation in one transaction.
 * Labels that neither node uses are removed (generations.ts).
 */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import { type Position, START } from "../../../core/position.ts";
import {
  checkNotBehind,
  compareOrigin,
  type Emptied,
  type ServerView,
  severalModels,
} from "../../../storage/view-origin.ts";
import { type Neo4jServer, type Transaction, whole } from "./connection.ts";
import { createGenerations, type GraphGenerations } from "./generations.ts";
import {
  checkVersion,
  lockState,
  type MetadataNode,
  type Part,
  readState,
  STAGING,
} from "./metadata-node.ts";
import { type Names, VERSION, VIEW } from "./schema.ts";

/** Maximum number of nodes and edges that one transaction deletes. */
const EMPTIED_IN_PLACE_MAX = 20_000;

/**
 * Writes in a transaction; may run more than once. It may read at once, and writes after `mayWrite`
 * resolves, unless that is false.
 */
export type Writing = (transaction: Transaction, mayWrite: Promise<boolean>) => Promise<void>;

/** A generation and its position (Sink.staged). */
export type StagedGraph = Pick<MetadataNode, "generation" | "position">;

interface View {
  /** The label of the written generation. */
  readonly label: string;
  position(): Promise<Position>;
  /** The stored name of the record at the checkpoint. */
  lastRecord(): Promise<string | undefined>;
  /** Runs a transaction that moves the checkpoint from its expected position. */
  commit(upTo: Position, write: Writing, record?: string): Promise<void>;
  /** Runs a transaction that does not move the checkpoint. */
  amend(write: Writing): Promise<void>;
  /** The expected checkpoint. */
  known(): Position;
  /** Starts a new, empty generation. */
  reset(): Promise<void>;
  /** The generation and its position. */
  staged(): StagedGraph;
  /** Makes the staging generation live. */
  publish(head?: Position): Promise<void>;
  close(outcome: "keep" | "discard"): Promise<void>;
}

export async function openView(server: Neo4jServer, names: Names, view: ServerView): Promise<View> {
  const writer = randomUUID();
  const model = view.standby ? undefined : view.model;
  const part: Part = view.bulk ? STAGING : "live";
  const generations = createGenerations(server, names);
  async function open(): Promise<MetadataNode> {
    await generations.prepare();
    const opened = await (view.bulk
      ? beginStaging(server, names, generations, view, writer)
      : openLive(server, names, generations, view));
    // Another process may have removed the label, which no view used yet.
    await generations.constrain(opened.generation);
    return opened;
  }
  let state: MetadataNode | undefined = await open();
  let published = false;

  const stateIn = (transaction: Transaction, which: Part) => readState(transaction, names, which);

  /** Throws `conflict` if the view is not at the expected position. */
  function expectUnmoved(now: MetadataNode | undefined): void {
    if (state !== undefined && now !== undefined && sameView(state, now)) return;
    state = undefined;
    const change = now === undefined ? "removed" : `moved to position ${now.position}`;
    throw new CatalogError("conflict", `the view "${VIEW}" was ${change} by another projector`);
  }

  const locked = async (transaction: Transaction): Promise<void> =>
    expectUnmoved(await lockState(transaction, names, part));

  /** True if no other process has moved or replaced the generation. */
  const sameView = (before: MetadataNode, now: MetadataNode): boolean =>
    before.generation === now.generation &&
    before.position === now.position &&
    (part === "live" || now.writer === writer);

  /** Empties a small view without a new generation, so that the server keeps its query plans. */
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
      await transaction.run(
        `MATCH (v:\`${names.view}\` {part: $part}) SET v.position = 0, v.record = null`,
        {
          part,
        },
      );
      state = { ...now, position: START };
      return true;
    });
  }

  async function publish(head?: Position): Promise<void> {
    if (part === "live" || published) return;
    await server.write(async (transaction) => {
      const live = await lockState(transaction, names, "live");
      await locked(transaction);
      checkNotBehind(VIEW, { own: known().position, live: live?.position, head });
      await transaction.run(takePlace(names), { writer });
    });
    published = true;
  }

  const known = (): MetadataNode => {
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
        if (part === "live") view.onStale?.(compareOrigin(found, view) === "stale");
      } else if (part === "live") state = await open();
      else throw new CatalogError("conflict", `another process rebuilds the view "${VIEW}"`);
      return state.position;
    },

    async lastRecord() {
      const found = await server.write((transaction) => stateIn(transaction, part));
      return found?.record ?? undefined;
    },

    async commit(upTo, write, record) {
      const token = randomUUID();
      const before = known();
      await server.write(async (transaction) => {
        const mayWrite = lockState(transaction, names, part).then((now) => {
          // The commit succeeded, but its response was lost.
          if (now?.commit === token) return false;
          expectUnmoved(now);
          return true;
        });
        const moved = transaction.run(
          `MATCH (v:\`${names.view}\` {part: $part}) SET v.position = $upTo, v.record = $record,
             v.commit = $token, v.model = ${FED}`,
          { part, token, upTo: whole(upTo), record: record ?? null, model: model ?? null },
        );
        await Promise.all([mayWrite, moved, write(transaction, mayWrite)]);
      });
      state = { ...before, position: upTo, record: record ?? null };
    },

    async amend(write) {
      known();
      await server.write(async (transaction) => {
        const mayWrite = locked(transaction).then(() => true);
        await Promise.all([mayWrite, write(transaction, mayWrite)]);
      });
    },

    async reset() {
      if (await emptyInPlace()) return;
      const generation = await generations.begin();
      await server.write(async (transaction) => {
        await lockState(transaction, names, part);
        await transaction.run(
          `MATCH (v:\`${names.view}\` {part: $part}) SET v.position = 0, v.record = null,
             v.generation = $generation`,
          { part, generation: whole(generation) },
        );
      });
      state = await server.write((transaction) => stateIn(transaction, part));
      await generations.constrain(generation);
      await generations.clear();
    },

    staged() {
      const { generation, position } = known();
      return { generation, position };
    },

    publish,

    async close(outcome) {
      if (part === "live" || server.closed) return;
      if (!published && outcome === "keep") await publish();
      if (!published) {
        await server.write((transaction) => transaction.run(dropStaging(names), { writer }));
      }
      await generations.clear();
    },
  };
}

/** The model of a view after a write with the model of the parameter. */
const FED = `CASE WHEN $model IS NULL OR v.model IS NULL OR v.model = $model THEN v.model
  ELSE '${severalModels}' END`;

const takePlace = (names: Names): string => `
  MATCH (r:\`${names.view}\` {part: '${STAGING}', writer: $writer})
  MERGE (v:\`${names.view}\` {part: 'live'})
  SET v = r {.*, part: 'live'} DETACH DELETE r`;

const dropStaging = (names: Names): string =>
  `MATCH (r:\`${names.view}\` {part: '${STAGING}', writer: $writer}) DETACH DELETE r`;

/** Opens the live view; creates one if there is none, or if its log or model differs. */
async function openLive(
  server: Neo4jServer,
  names: Names,
  generations: GraphGenerations,
  view: ServerView,
): Promise<MetadataNode> {
  const { model, log } = view.standby ? {} : view;
  const next = await server.write((transaction) => readState(transaction, names, "live"));
  if (next !== undefined) checkVersion(next.version);
  const why = next && emptiedBy(next, view);
  if (next !== undefined) view.onStale?.(compareOrigin(next, view) === "stale");
  // A new generation has its constraint before a view uses it.
  const generation =
    next === undefined || why !== undefined
      ? await generations.begin({ reuse: next === undefined })
      : next.generation;
  const ahead = next !== undefined && compareOrigin(next, view) === "ahead";
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
         SET v.generation = $generation, v.position = 0, v.record = null, v.model = $model`,
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

/** Starts a staging generation; removes one of a process that died. */
async function beginStaging(
  server: Neo4jServer,
  names: Names,
  generations: GraphGenerations,
  { model, log }: ServerView,
  writer: string,
): Promise<MetadataNode> {
  const generation = await generations.begin();
  const state = await server.write(async (transaction) => {
    await transaction.run(
      `MERGE (v:\`${names.view}\` {part: '${STAGING}'})
       SET v = {part: '${STAGING}', view: '${VIEW}', version: ${VERSION}, generation: $generation,
         position: 0, writer: $writer, model: $model, log: $log}`,
      { generation: whole(generation), writer, model: model ?? null, log: log?.id ?? null },
    );
    return readState(transaction, names, STAGING);
  });
  if (state === undefined) {
    throw new CatalogError("conflict", `another process rebuilds the view "${VIEW}"`);
  }
  await generations.clear();
  return state;
}

function emptiedBy(state: MetadataNode, view: ServerView): Emptied | undefined {
  const verdict = compareOrigin(state, view);
  return verdict === "another model" || verdict === "another log" ? verdict : undefined;
}
