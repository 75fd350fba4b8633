/**
 * Verification of views in any store: the rows of a view in a server equal those of the embedded
 * view, and any damage is found and repaired.
 */
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { verify } from "../../src/app/offline/offline-verify.ts";
import { openLogReader } from "../../src/app/open-log.ts";
import { type ViewName, viewNames } from "../../src/app/store-locations.ts";
import { openViews, type StoresConfig, storesConfig } from "../../src/app/stores.ts";
import { openVerifiedViews, verifyStoredViews } from "../../src/app/verification/verified-views.ts";
import { viewRules } from "../../src/app/view-rules.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import type { ChangeLog } from "../../src/log/change-log.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { restoreEntities } from "../../src/projector/parking/restore.ts";
import type { View } from "../../src/projector/sink.ts";
import { inOrder } from "../../src/projector/verify/differences.ts";
import type { VerifiedView } from "../../src/projector/verify/view-rows.ts";
import { dataset, user, writeHistory } from "../support/random-history.ts";
import { runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { NOBODY } from "./view-rows-places.ts";

type Settings = Parameters<typeof readConfig>[0];

const rules = viewRules(loadModel());
const quiet = { onProgress: () => {} };

/** A log with a history of all kinds of changes. */
async function fillCorpus(directory: string): Promise<void> {
  await using service = await runningService({ logLevel: "silent" });
  await writeHistory(service, 150, 10);
  // One entity with many changes, and one with uncommon characters.
  const often = dataset("often");
  for (let n = 0; n < 30; n++) {
    await service.client.upsert(often, "datasetProfile", {
      timestampMillis: 1e12 + n,
      rowCount: n,
    });
    await service.client.upsert(often, "status", { removed: n % 2 === 0 });
  }
  for (const name of ["\u{1f41f} \uffee", "é_\u4e2d"]) {
    const urn = dataset(name);
    await service.client.upsert(urn, "datasetProfile", { timestampMillis: 5, rowCount: 5 });
    await service.client.upsert(urn, "ownership", {
      owners: [{ owner: user(1), type: "DATAOWNER" }],
    });
  }
  await service.restart(async () => {
    for (const file of readdirSync(service.directory)) {
      if (file.startsWith("log.sqlite"))
        cpSync(join(service.directory, file), join(directory, file));
    }
  });
}

/** A data directory with the log of the corpus and with the views of the settings. */
async function builtViews(corpus: string, settings: Settings) {
  const directory = temporaryDirectory("annals-rows");
  cpSync(corpus, directory.path, { recursive: true });
  const config = readConfig({ data: directory.path, ...settings }, {});
  await rebuild(config, { views: [], ...quiet } as never);
  const log = await openLogReader(config);
  const stores = await storesConfig(config, rules, log);
  return {
    config,
    stores,
    log,
    async close() {
      await log.close();
      directory[Symbol.dispose]();
    },
  };
}

async function urnsOf({ rows }: VerifiedView): Promise<ReadonlySet<string>> {
  const urns = new Set<string>();
  for await (const page of rows.urns()) for (const urn of page) urns.add(urn);
  return urns;
}

/** The rows of these entities, for several sizes of requests. */
async function rowsOf({ rows, shape }: VerifiedView, urns: readonly string[]) {
  const all = new Map<string, unknown>();
  for (let from = 0; from < urns.length; ) {
    const held = await rows.read(urns.slice(from));
    expect(held.rows.length).toBeGreaterThan(0);
    for (const own of held.rows) all.set(urns[from++] ?? "", inOrder(own, shape));
  }
  return all;
}

type Beyond = readonly [view: ViewName, statement: string];
type Damages = readonly (readonly [
  view: ViewName,
  what: string,
  statement: string,
  kind: string,
])[];

/** Restores entities as the projector does. */
async function restoreIn(log: ChangeLog, views: readonly View[], urns: readonly string[]) {
  const places = await Promise.all(
    views.map(async (view) => ({ view, position: await view.sink.position() })),
  );
  expect(await restoreEntities(urns, { log, decode: decodeRecord, views: places })).toEqual([]);
}

export interface DamagedViews {
  /** Where the views are. */
  readonly settings: Settings;
  damage(view: ViewName, statement: string): Promise<void>;
  remove(): Promise<void>;
}

/** `beyond`: damage that restoring single entities cannot repair. */
export function viewRowsSuite(
  title: string,
  open: () => Promise<DamagedViews>,
  { damages, beyond }: { readonly damages: Damages; readonly beyond: readonly Beyond[] },
): void {
  describe(title, () => {
    const corpus = temporaryDirectory("annals-corpus");
    let own: Awaited<ReturnType<typeof builtViews>>;
    let embedded: Awaited<ReturnType<typeof builtViews>>;
    let place: Awaited<ReturnType<typeof open>>;
    let config: Config;
    let stores: StoresConfig;
    let log: ChangeLog;

    beforeAll(async () => {
      place = await open();
      await fillCorpus(corpus.path);
      embedded = await builtViews(corpus.path, {});
      own = await builtViews(corpus.path, place.settings);
      ({ config, stores, log } = own);
    });
    afterAll(async () => {
      await own?.close();
      await embedded?.close();
      await place?.remove();
      corpus[Symbol.dispose]();
    });

    const look = (views: readonly ViewName[] = viewNames, of = stores) =>
      verifyStoredViews(of, { views });

    test("the rows equal those of the embedded views", async () => {
      const [here, there] = [
        await openVerifiedViews(embedded.stores, viewNames),
        await openVerifiedViews(stores, viewNames),
      ];
      for (const [n, view] of here.entries()) {
        const other = there[n] as VerifiedView;
        expect(await other.rows.count(), view.name).toEqual(await view.rows.count());
        expect(await other.rows.position()).toBe(await view.rows.position());
        expect(await other.rows.faults()).toEqual([]);
        const urns = [...(await urnsOf(view)), NOBODY, "urn:li:tag:none"].sort();
        expect(new Set(urns).isSupersetOf(await urnsOf(other)), view.name).toBe(true);
        const rows = await rowsOf(view, urns);
        expect(await rowsOf(other, urns)).toEqual(rows);
        // In any order of urns, and one by one.
        const few = urns.toReversed();
        expect(new Map([...(await rowsOf(other, few))].toReversed())).toEqual(rows);
        const withRows = [...rows].filter(([, some]) => (some as unknown[]).length > 0);
        const listed = await urnsOf(other);
        for (const [urn] of withRows) expect(listed.has(urn), `${view.name} ${urn}`).toBe(true);
      }
      for (const { rows } of [...here, ...there]) await rows.close();
    });

    test("a verification finds no differences, and the same number of rows", async () => {
      const [there, here] = [await look(), await look(viewNames, embedded.stores)];
      const found = ({ views }: typeof there) =>
        views.map(({ view, position, rows, count, differences }) => ({
          ...{ view, position, rows, count, differences },
        }));
      expect(found(there)).toEqual(found(here));
      for (const { count } of there.views) expect(count).toBe(0);
    });

    test.each(damages)(
      "a verification finds and a restore repairs %s: %s",
      async (view, _what, statement, kind) => {
        await place.damage(view, statement);
        const { views } = await look([view]);
        const [found] = views;
        expect(found?.count).toBeGreaterThan(0);
        const kinds = new Set(found?.differences.map((one) => one.kind));
        expect(kinds, JSON.stringify(found?.differences[0])).toContain(kind);
        const urns = new Set(found?.differences.map(({ urn }) => urn));
        urns.delete("");
        const sinks = await openViews(stores, { names: [view] });
        await restoreIn(log, sinks, [...urns]);
        for (const { sink } of sinks) await sink.close();
        expect((await look([view])).views).toMatchObject([{ count: 0, differences: [] }]);
      },
    );

    test("the repaired rows equal those of the embedded views", async () => {
      expect((await look()).views.flatMap(({ differences }) => differences)).toEqual([]);
    });

    test("damage outside the rows of entities is reported, and repaired by a rebuild", async () => {
      for (const [view, statement] of beyond) await place.damage(view, statement);
      const { before, after, rebuilt } = await verify(config, {
        ...{ views: [], repair: true, logger: console as never, ...quiet },
      });
      const damaged = beyond.map(([view]) => view);
      for (const one of before) {
        expect(one.count > 0, JSON.stringify(one)).toBe(damaged.includes(one.view as ViewName));
      }
      expect(rebuilt.toSorted()).toEqual([...new Set(damaged)].sort());
      expect(after.map(({ count }) => count)).toEqual([0, 0, 0, 0]);
    });
  });
}

/** Damages of documents (view-rows-places.ts). */
export const storedDamages = [
  ["timeseries", "documents removed", "some removed", "missing"],
  ["timeseries", "values changed", "value changed", "different"],
  ["timeseries", "events with later positions", "positions moved", "different"],
  ["timeseries", "events added", "event added", "unexpected"],
  ["timeseries", "an event without a record", "event of nobody", "unexpected"],
  ["timeseries", "an event that is there twice", "event astray", "unexpected"],
  ["timeseries", "events that say nothing any more", "fields gone", "missing"],
  ["timeseries", "all events removed", "emptied", "missing"],
  ["search", "documents removed", "some removed", "missing"],
  ["search", "documents changed", "document changed", "different"],
  ["search", "documents that no word finds", "words gone", "different"],
  ["search", "a document without a record", "document of nobody", "unexpected"],
  ["search", "all documents removed", "emptied", "missing"],
] as const satisfies Damages;

/** Damages of tables, and of nodes and edges. */
export const tabledDamages: Damages = [
  ["aspects", "rows deleted", "DELETE FROM {aspect_value} WHERE position % 3 = 0", "missing"],
  ["aspects", "values changed", "UPDATE {aspect_value} SET value = '{}'", "different"],
  ["aspects", "stamps changed", "UPDATE {aspect_value} SET time = time + 1", "different"],
  ["aspects", "removals undone", "UPDATE {aspect_value} SET removed = NULL", "different"],
  ["aspects", "entities that live no more", "UPDATE {entity} SET living = false", "different"],
  [
    ...["aspects", "rows added"],
    `INSERT INTO {aspect_value} SELECT entity, position, revision, confirmed, removed, time, aspect,
       version + 90, actor, system, value FROM {aspect_value}`,
    "unexpected",
  ] as unknown as Damages[number],
  [
    ...["aspects", "an entity without a record"],
    `INSERT INTO {entity} SELECT max(id) + 1,
       ('x' || substr(encode(sha256('${NOBODY}'), 'hex'), 1, 16))::bit(64)::bigint, 1, min(kind), true,
       '${NOBODY}' FROM {entity};
     UPDATE {view} SET last_entity = last_entity + 1`,
    "unexpected",
  ] as unknown as Damages[number],
  ["aspects", "a table emptied", "DELETE FROM {aspect_value}", "missing"],
  ["aspects", "everything gone", "DELETE FROM {aspect_value}; DELETE FROM {entity}", "missing"],
  ["graph", "edges deleted", "MATCH (:LABEL)-[r]->() WHERE r.position % 2 = 0 DELETE r", "missing"],
  ["graph", "edges changed", "MATCH (:LABEL)-[r]->() SET r.createdOn = 7", "different"],
  [
    ...["graph", "no edge leads"],
    "MATCH (s:LABEL)-[r:OwnedBy]->(d) CREATE (s)-[o:OwnedBy_also_]->(d) SET o = properties(r) DELETE r",
    "different",
  ] as unknown as Damages[number],
  [
    ...["graph", "edges added"],
    "MATCH (s:LABEL)-[r:OwnedBy]->(d) CREATE (s)-[o:OwnedBy]->(d) SET o = properties(r), o.aspect = 'status', o.position = r.position + 1",
    "unexpected",
  ] as unknown as Damages[number],
  [
    ...["graph", "an edge without a record"],
    `MATCH (d:LABEL) WITH d LIMIT 1 CREATE (:LABEL {urn: '${NOBODY}', type: 'dataset'})-[:OwnedBy
       {aspect: 'ownership', position: 1, ordinal: 0, path: '/', createdOn: 1, createdActor: '',
        updatedOn: 1, updatedActor: ''}]->(d)`,
    "unexpected",
  ] as unknown as Damages[number],
  ["graph", "all nodes gone", "MATCH (n:LABEL) DETACH DELETE n", "missing"],
];
