import { createServer } from "node:net";
import fc from "fast-check";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unknownEntity } from "../../src/core/entity-state.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import type { AspectWrite } from "../../src/views/aspects/aspect-table.ts";
import { checkPostgres } from "../../src/views/aspects/postgres/check.ts";
import { openPostgresAspectReader } from "../../src/views/aspects/postgres/postgres-aspect-reader.ts";
import { openPostgresAspectSink } from "../../src/views/aspects/postgres/postgres-aspect-sink.ts";
import { aspectTableContract } from "../contract/aspect-table.contract.ts";
import { aspectHistories, byteOrder } from "../contract/aspect-table-model.ts";
import { expectRestoredCounts } from "../contract/restored-counts.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { createPostgresPlaces, type PostgresPlace } from "./postgres-place.ts";
import { tablesOfVersion1 } from "./postgres-tables-1.ts";

const store = await reachStore("postgres");
const title = storeTitle("postgres", store);
const url = "url" in store ? store.url : "";
const createPlace = createPostgresPlaces(url);

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const entityOf = (urn: string) => `(SELECT id FROM {entity} WHERE urn = ${quoted(urn)})`;

const [history = []] = fc.sample(aspectHistories(150, 150), { numRuns: 1, seed: 3 });
const end = history.at(-1)?.position ?? position(0);
const conflict = expect.objectContaining({ code: "conflict" });

/** The key of a tag, written at a position. */
const tag = (name: string, at: number): Extract<AspectWrite, { op: "value" }> => ({
  op: "value",
  ...{ urn: `urn:li:tag:${name}`, aspect: "tagKey", entityType: "tag", key: true },
  ...{ position: position(at), revision: revision(0), version: 1, value: '{"name":"x"}' },
  ...{ time: at, actor: "urn:li:corpuser:ada", system: `{"lastObserved":${at}}` },
});
const tags = (from: number, to: number): AspectWrite[] =>
  Array.from({ length: to - from + 1 }, (_, n) => tag(`t${from + n}`, from + n));

// The title says why the suite is skipped without a server.
describe.skipIf("skipped" in store)(`aspects on ${title}`, () => {
  aspectTableContract(title, { createPlace });

  sinkContract(`aspects on ${title}`, {
    createPlace,
    histories: aspectHistories,
    urnOf: ({ urn }) => urn,
    ownerOf: ({ urn }) => urn,
    damages: [
      ["removed", (urn) => `DELETE FROM {aspect_value} WHERE entity = ${entityOf(urn)}`],
      [
        "removed in part",
        (urn) => `DELETE FROM {aspect_value} WHERE entity = ${entityOf(urn)} AND version = 1`,
      ],
      [
        "changed",
        (urn) =>
          `UPDATE {aspect_value} SET value = '{}', confirmed = 7 WHERE entity = ${entityOf(urn)}`,
      ],
      [
        "added",
        (urn) => `
          INSERT INTO {aspect_name} (name) VALUES ('ghost');
          INSERT INTO {aspect_value} (entity, aspect, version, position, revision, time, actor, system, value)
          VALUES (${entityOf(urn)}, (SELECT id FROM {aspect_name} WHERE name = 'ghost'), 1, 1, 1, 1, 'a', '{}', '{}')`,
      ],
      [
        "given a wrong living flag",
        (urn) => `UPDATE {entity} SET living = NOT living WHERE id = ${entityOf(urn)}`,
      ],
      ["deleted with their entity", (urn) => `DELETE FROM {entity} WHERE id = ${entityOf(urn)}`],
    ],
  });

  describe("beyond the contract", () => {
    let place: PostgresPlace;

    beforeEach(async () => {
      place = await createPlace();
    });

    afterEach(() => place.remove());

    const rowsOf = async (of = place) => {
      const reader = await of.openReader();
      const rows = await Array.fromAsync(reader.dump());
      await reader.close();
      return rows;
    };

    /** The rows of a view after the whole history in one batch. */
    async function rowsOfHistory() {
      const other = await createPlace();
      const sink = await other.openSink();
      await sink.apply(history, end);
      const rows = await rowsOf(other);
      await other.remove();
      return rows;
    }

    /**
     * Applies the history like a projector: after a conflict, it continues at the position of the
     * view.
     */
    async function feed(sink: Awaited<ReturnType<PostgresPlace["openSink"]>>, size = 40) {
      let at = await sink.position();
      for (let failures = 0; at < end; ) {
        const batch = history.filter((write) => write.position > at).slice(0, size);
        try {
          const upTo = batch.at(-1)?.position ?? end;
          await sink.apply(batch, upTo);
          at = upTo;
        } catch (error) {
          expect(error).toEqual(conflict);
          expect(++failures).toBeLessThan(100);
          at = await sink.position().catch(() => sink.position());
        }
      }
    }

    describe("a reader without a sink", () => {
      test("the reader returns an empty view, and sees the view that a sink creates", async () => {
        const reader = await place.openReader();
        expect(await reader.position()).toBe(0);
        expect(await reader.getEntities(["urn:li:tag:a", ""])).toEqual([
          unknownEntity("urn:li:tag:a"),
          unknownEntity(""),
        ]);
        expect(await reader.findValue("urn:li:tag:a", "tagKey", 1)).toBeUndefined();
        expect(await reader.listUrns("tag", { start: 0, count: 9 })).toEqual({
          urns: [],
          total: 0,
        });
        expect(await reader.countEntities()).toEqual(new Map());
        expect(await reader.countAspect("tagKey")).toBe(0);
        expect(await Array.fromAsync(reader.dump())).toEqual([]);
        const sink = await place.openSink();
        await sink.apply(tags(1, 3), position(3));
        expect(await reader.position()).toBe(3);
        expect(await reader.countAspect("tagKey")).toBe(3);
      });
    });

    describe("restoring entities", () => {
      test.each([
        ["marked with the opposite state", "UPDATE {entity} SET living = NOT living"],
        ["deleted", "DELETE FROM {entity}"],
        [
          "counted wrong together with a deleted entity",
          "UPDATE {entity} SET living = true; UPDATE {entity_kind} SET living = 7",
        ],
        ["left unchanged", "SELECT 1"],
      ])("restoring repairs the counts of entities that were %s", async (_, damage) => {
        await expectRestoredCounts(place, {
          damage,
          counts: "SELECT prefix, living FROM {entity_kind} ORDER BY prefix",
          entities: "SELECT kind, urn, living FROM {entity} ORDER BY urn",
        });
      });

      test("an entity that is restored to nothing can be created again", async () => {
        const sink = await place.openSink();
        await sink.apply(tags(1, 3), position(3));
        await sink.restore("urn:li:tag:t2", []);
        await sink.apply([tag("t2", 4)], position(4));
        expect((await rowsOf()).map(({ urn }) => urn)).toEqual(tags(1, 3).map(({ urn }) => urn));
      });

      test("restoring writes a history that is longer than a statement", async () => {
        const sink = await place.openSink();
        const long = Array.from({ length: 2_500 }, (_, n) => ({
          ...tag("long", n + 1),
          ...{ version: n + 1, revision: revision(n) },
        }));
        await sink.apply(long, position(2_500));
        const rows = await rowsOf();
        expect(rows).toHaveLength(2_500);
        await place.change("UPDATE {aspect_value} SET system = '{}'");
        await sink.restore("urn:li:tag:long", long);
        expect(await rowsOf()).toEqual(rows);
      });
    });

    describe("concurrent reads", () => {
      test("each read gets its own result, and sees writes from before it", async () => {
        const sink = await place.openSink();
        const reader = await place.openReader();
        for (let n = 1; n <= 5; n++) {
          await sink.apply(tags(n * 10, n * 10 + 9), position(n * 10 + 9));
          const asked = Array.from({ length: 60 }, (_, at) =>
            Array.from({ length: at % 7 }, (_, more) => `urn:li:tag:t${at + more}`),
          );
          const answers = await Promise.all(asked.map((urns) => reader.getEntities(urns)));
          expect(answers.map((states) => states.map(({ urn }) => urn))).toEqual(asked);
          const known = (urn: string) => Number(urn.slice("urn:li:tag:t".length)) < n * 10 + 10;
          for (const { urn, revision } of answers.flat()) {
            const written = known(urn) && !/t\d$/.test(urn);
            expect([urn, revision]).toEqual([urn, written ? 0 : -1]);
          }
        }
      });

      test("concurrent reads fail together, and later reads succeed", async () => {
        await (await place.openSink()).apply(tags(1, 9), position(9));
        const reader = await place.openReader();
        await place.change(`ALTER TABLE {entity} RENAME COLUMN revision TO away`);
        const asked = tags(1, 9).map(({ urn }) => [urn]);
        const failed = await Promise.allSettled(asked.map((urns) => reader.getEntities(urns)));
        expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(["rejected"]));
        await place.change(`ALTER TABLE {entity} RENAME COLUMN away TO revision`);
        const answers = await Promise.all(asked.map((urns) => reader.getEntities(urns)));
        expect(answers.flat().map(({ revision }) => revision)).toEqual(asked.map(() => 0));
      });
    });

    describe("a version that is written again", () => {
      const confirm = (at: number): AspectWrite => ({
        op: "confirm",
        ...{ urn: "urn:li:tag:a", aspect: "tagKey", position: position(at), version: 1 },
        ...{ revision: revision(at - 1), system: `{"confirmed":${at}}` },
      });
      const again = (at: number) => ({ ...tag("a", at), revision: revision(at - 1) });

      test("the version has the last write, in one batch or in several", async () => {
        const writes = [tag("a", 1), confirm(2), again(3), confirm(4), again(5)];
        const one = await place.openSink();
        await one.apply(writes.slice(0, 1), position(1));
        await one.apply(writes.slice(1), position(5));
        const rows = await rowsOf();
        expect(rows).toMatchObject([
          { position: 5, confirmed: undefined, system: again(5).system },
        ]);
        await one.reset();
        for (const write of writes) await one.apply([write], write.position);
        expect(await rowsOf()).toEqual(rows);
      });

      test("an older version that is written again advances the revision of the entity", async () => {
        const writes = [tag("a", 1), { ...again(2), version: 2 }, confirm(3)];
        const sink = await place.openSink();
        const reader = await place.openReader();
        for (const size of [1, 2, 3]) {
          await sink.reset();
          for (let from = 0; from < 3; from += size) {
            const batch = writes.slice(from, from + size);
            await sink.apply(batch, batch.at(-1)?.position ?? position(0));
          }
          const [state] = await reader.getEntities(["urn:li:tag:a"]);
          expect(state).toMatchObject({ revision: 2 });
          expect(state?.aspects.get("tagKey")).toMatchObject({ version: 2 });
        }
      });
    });

    describe("two sinks of one view", () => {
      test("a sink detects the writes of the other, and changes nothing", async () => {
        const one = await place.openSink();
        const other = await place.openSink();
        await one.apply(tags(1, 3), position(3));
        await expect(other.apply(tags(1, 3), position(3))).rejects.toEqual(
          expect.objectContaining({
            code: "conflict",
            message: 'the view "aspects" was moved to position 3 by another projector',
          }),
        );
        await expect(other.apply(tags(1, 5), position(5))).rejects.toEqual(conflict);
        expect(await other.position()).toBe(3);
        await other.apply(tags(2, 5), position(5));
        await expect(one.restore("urn:li:tag:t5", [])).rejects.toEqual(conflict);
        expect(await one.position()).toBe(5);
        expect(await rowsOf()).toHaveLength(5);
      });

      test("two sinks in any order give the same view as one", async () => {
        const rows = await rowsOfHistory();
        const sinks = await Promise.all([place.openSink(), place.openSink(), place.openSink()]);
        await Promise.all(sinks.map((sink, n) => feed(sink, 3 + n)));
        expect(await rowsOf()).toEqual(rows);
        expect(await sinks[0]?.position()).toBe(end);
      });

      test("a sink does not reuse the numbers of entities that the other has deleted", async () => {
        const one = await place.openSink();
        const other = await place.openSink();
        await one.apply(tags(1, 3), position(3));
        await other.position();
        await other.restore("urn:li:tag:t2", []);
        await one.apply([{ ...tag("t2", 4), version: 2 }], position(4));
        const rows = await rowsOf();
        expect(rows.map(({ urn, version }) => [urn, version])).toEqual([
          ["urn:li:tag:t1", 1],
          ["urn:li:tag:t2", 2],
          ["urn:li:tag:t3", 1],
        ]);
      });
    });

    describe("a staging generation", () => {
      test("a published generation replaces the live one, and readers see only one of the two", async () => {
        const live = await place.openSink();
        await live.apply(tags(1, 300), position(300));
        const reader = await place.openReader();
        const asked = tags(1, 300).map(({ urn }) => urn);
        let reading = true;
        const seen = new Set<string>();
        const readings = Array.from({ length: 4 }, async (_, n) => {
          while (reading) {
            const states = await reader.getEntities(n % 2 === 0 ? asked : asked.slice(0, 1));
            seen.add(states.map(({ aspects }) => aspects.size).join(""));
            seen.add(`${(await reader.listUrns("tag", { start: 0, count: 1 })).total}`);
            seen.add(`${await reader.countAspect("tagKey")}`);
          }
        });
        for (let n = 0; n < 4; n++) {
          const bulk = await place.openSink({ bulk: true });
          expect(await bulk.position()).toBe(0);
          for (let from = 1; from <= 300; from += 100) {
            await bulk.apply(tags(from, from + 99), position(from + 99));
          }
          await bulk.close("keep");
          await bulk.close("keep");
        }
        reading = false;
        await Promise.all(readings);
        expect(seen).toEqual(new Set(["1", "1".repeat(300), "300"]));
        // The sink of the old generation gets a conflict, and continues with the new one.
        await expect(live.apply(tags(301, 302), position(302))).rejects.toEqual(conflict);
        expect(await live.position()).toBe(300);
        await live.apply(tags(301, 302), position(302));
        expect(await reader.countAspect("tagKey")).toBe(302);
        expect(await generations(place)).toHaveLength(1);
      });

      test("a published generation replaces a view that covers records beyond the end of the log", async () => {
        const live = await place.openSink();
        await live.apply(tags(1, 3), position(3));
        const bulk = await place.openSink({ bulk: true });
        await bulk.apply(tags(1, 2), position(2));
        await expect(bulk.publish?.(position(3))).rejects.toEqual(conflict);
        await bulk.publish?.(position(2));
        await bulk.close("keep");
        expect(await rowsOf()).toHaveLength(2);
      });

      test("a discarded or abandoned generation is dropped", async () => {
        const live = await place.openSink();
        await live.apply(tags(1, 3), position(3));
        const discarded = await place.openSink({ bulk: true });
        await discarded.apply(tags(1, 2), position(2));
        await discarded.close("discard");
        expect(await generations(place)).toHaveLength(1);
        const lost = await place.openSink({ bulk: true });
        await lost.apply(tags(1, 2), position(2));
        const unaware = await place.openSink({ bulk: true });
        await expect(lost.close("keep")).rejects.toEqual(conflict);
        await place.disconnect();
        const next = await place.openSink({ bulk: true });
        expect(await generations(place)).toHaveLength(2);
        await expect(unaware.apply(tags(1, 2), position(2))).rejects.toEqual(conflict);
        await expect(unaware.position()).rejects.toEqual(conflict);
        await expect(unaware.close("keep")).rejects.toEqual(conflict);
        await next.close("discard");
        expect(await rowsOf()).toHaveLength(3);
        expect(await live.position()).toBe(3);
      });

      test("an old generation with readers is dropped by the next rebuild", async () => {
        const live = await place.openSink();
        await live.apply(tags(1, 3), position(3));
        const reading = new pg.Client({ connectionString: url });
        await reading.connect();
        const [{ generation } = {}] = await generations(place);
        await reading.query(`BEGIN; SELECT FROM "${place.place.name}".entity_g${generation}`);
        const bulk = await place.openSink({ bulk: true });
        await bulk.apply(tags(1, 4), position(4));
        await bulk.close("keep");
        expect(await generations(place)).toHaveLength(2);
        await expect(live.apply(tags(4, 5), position(5))).rejects.toEqual(conflict);
        expect(await live.position()).toBe(4);
        await reading.end();
        await (await place.openSink({ bulk: true })).close("discard");
        expect(await generations(place)).toHaveLength(1);
        expect(await rowsOf()).toHaveLength(4);
      });

      test("a staging generation becomes the first live one", async () => {
        const reader = await place.openReader();
        const bulk = await place.openSink({ bulk: true });
        await bulk.apply(tags(1, 2), position(2));
        expect(await reader.position()).toBe(0);
        await bulk.reset();
        expect(await bulk.position()).toBe(0);
        await bulk.apply(tags(1, 4), position(4));
        await bulk.close();
        expect(await reader.position()).toBe(4);
        expect(await reader.countAspect("tagKey")).toBe(4);
      });
    });

    describe("a view that was emptied without the sink", () => {
      test.each([
        ["its schema dropped", (name: string) => `DROP SCHEMA "${name}" CASCADE`],
        ["its metadata deleted", (name: string) => `DELETE FROM "${name}".view`],
        ["its tables dropped", () => "DROP TABLE {entity}, {aspect_value}"],
      ])("the damage is detected once, and the view is built again: %s", async (_, damage) => {
        const rows = await rowsOfHistory();
        const sink = await place.openSink();
        const reader = await place.openReader();
        await sink.apply(history.slice(0, 60), history[59]?.position ?? end);
        expect(await reader.position()).toBe(history[59]?.position);
        await place.change(damage(place.place.name));
        await expect(sink.apply(history.slice(60), end)).rejects.toEqual(conflict);
        await expect(sink.apply(history.slice(60), end)).rejects.toEqual(conflict);
        expect(await sink.position()).toBe(0);
        expect(await reader.position()).toBe(0);
        await feed(sink);
        expect(await rowsOf()).toEqual(rows);
        expect(await reader.position()).toBe(end);
        expect(await reader.getEntities(["urn:li:corpuser:ada"])).toEqual(
          await (await place.openReader()).getEntities(["urn:li:corpuser:ada"]),
        );
      });

      test("the sink does not continue at its old position, even after that was read", async () => {
        const sink = await place.openSink();
        await sink.apply(tags(1, 3), position(3));
        await place.change(`UPDATE "${place.place.name}".view SET position = 2`);
        await expect(sink.position()).rejects.toEqual(conflict);
        await expect(sink.apply(tags(4, 5), position(5))).rejects.toEqual(conflict);
        expect(await sink.position()).toBe(2);
      });
    });

    describe("the origin of a view", () => {
      const log = (id: string, head: number) => ({ id, head: position(head) });

      test("the origin is stored with the view, and a view of another origin is built from the start", async () => {
        const notified: string[] = [];
        const origin = (model: string, id: string, head = 9) => ({
          ...{ model, log: log(id, head), onEmptied: (why: string) => void notified.push(why) },
        });
        const first = await place.openSink(origin("m1", "l1"));
        await first.apply(tags(1, 3), position(3));
        expect(await (await place.openSink(origin("m1", "l1"))).position()).toBe(3);
        const second = await place.openSink(origin("m2", "l1"));
        expect(await second.position()).toBe(0);
        expect(notified).toEqual(["another model"]);
        await expect(first.apply(tags(4, 5), position(5))).rejects.toEqual(conflict);
        await second.apply(tags(1, 4), position(4));
        // A log that ends before the view may be damaged, and the view the only copy.
        expect(await (await place.openSink(origin("m2", "l2", 3))).position()).toBe(4);
        expect(await (await place.openSink(origin("m2", "l2", 4))).position()).toBe(0);
        expect(notified).toEqual(["another model", "another log"]);
        expect(await generations(place)).toHaveLength(1);
      });
    });

    describe("a view of another model", () => {
      const origin = (model: string, notified: unknown[] = []) => ({
        ...{ model, log: { id: "l1", head: position(9) } },
        onStale: (stale: boolean) => void notified.push(stale),
        onEmptied: (why: string) => void notified.push(why),
      });

      test("the view is kept on request, and replaced by a rebuild", async () => {
        const first = await place.openSink(origin("m1"));
        await first.apply(tags(1, 3), position(3));
        const notified: unknown[] = [];
        const second = await place.openSink(origin("m2", notified));
        expect([await second.position(), notified]).toEqual([3, [true]]);
        // The process with the first model continues to project.
        await first.apply(tags(4, 5), position(5));
        const rebuilt = await place.openSink({ ...origin("m2"), bulk: true });
        await rebuilt.apply(tags(1, 5), position(5));
        await rebuilt.close("keep");
        await expect(first.apply(tags(6, 6), position(6))).rejects.toEqual(conflict);
        const other = await place.openSink(origin("m1", notified));
        expect(await other.position()).toBe(5);
        expect(notified).toEqual([true, true]);
        await expect(second.position()).rejects.toEqual(conflict);
        expect(await second.position()).toBe(5);
        expect(notified).toEqual([true, true, false]);
      });

      test("a view with records projected by both models belongs to neither", async () => {
        await (await place.openSink(origin("m1"))).apply(tags(1, 3), position(3));
        await (await place.openSink(origin("m2"))).apply(tags(4, 4), position(4));
        for (const model of ["m1", "m2"]) {
          const notified: unknown[] = [];
          const sink = await place.openSink(origin(model, notified));
          expect([await sink.position(), notified]).toEqual([4, [true]]);
        }
      });
    });

    describe("texts", () => {
      test("urns of any length are distinguished and sorted", async () => {
        const long = "\u{1F3D4}é".repeat(1_400);
        const urns = ["b", `${long}a`, `${long}b`, long, `${"x".repeat(16_000)}`, "~"].map(
          (name) => `urn:li:tag:${name}`,
        );
        const sink = await place.openSink();
        const writes = urns.map((urn, n) => ({ ...tag("", n + 1), urn }));
        await sink.apply(writes, position(6));
        const reader = await place.openReader();
        const inOrder = urns.toSorted(byteOrder);
        for (const start of [0, 2, 5]) {
          const page = await reader.listUrns("tag", { start, count: 3 });
          expect(page).toEqual({ urns: inOrder.slice(start, start + 3), total: 6 });
        }
        const states = await reader.getEntities(urns);
        expect(states.map(({ revision }) => revision)).toEqual(urns.map(() => 0));
        expect(await reader.countAspect("tagKey", `urn:li:tag:${long}_`)).toBe(2);
        expect((await rowsOf()).map(({ urn }) => urn)).toEqual(inOrder);
      });

      test("reads of texts that the server cannot store return nothing", async () => {
        const sink = await place.openSink();
        await sink.apply(tags(1, 1), position(1));
        const reader = await place.openReader();
        for (const text of ["urn:li:tag:\0", "urn:li:tag:\ud800"]) {
          expect(await reader.getEntities([text, "urn:li:tag:t1"])).toMatchObject([
            unknownEntity(text),
            { revision: 0 },
          ]);
          expect(await reader.findValue(text, "tagKey", 1)).toBeUndefined();
          expect(await reader.findValue("urn:li:tag:t1", text, 1)).toBeUndefined();
          expect((await reader.listUrns(text, { start: 0, count: 1 })).total).toBe(0);
          expect(await reader.countAspect(text)).toBe(0);
          expect(await reader.countAspect("tagKey", text)).toBe(0);
        }
      });

      test("several texts of 16 MB in a batch are stored unchanged", async () => {
        const sink = await place.openSink();
        const value = JSON.stringify({ a: '\\"☃\u0000'.repeat(1_450_000) });
        expect(value.length).toBeGreaterThan(15_000_000);
        const writes = [1, 2, 3].map((n) => ({ ...tag(`t${n}`, n), value }));
        await sink.apply([...writes, ...tags(4, 5_000)], position(5_000));
        const reader = await place.openReader();
        const found = await reader.findValue("urn:li:tag:t2", "tagKey", 1);
        expect(found?.value === value).toBe(true);
        expect(await reader.countAspect("tagKey")).toBe(5_000);
      });
    });

    describe("tables of another release", () => {
      test("tables of an earlier release are upgraded with their rows", async () => {
        const reader = await place.openReader();
        await place.change(tablesOfVersion1(place.place.name));
        await expect(reader.position()).rejects.toMatchObject({
          code: "unavailable",
          message: expect.stringContaining("an older release (its tables have version 1"),
        });
        expect((await checkPostgres(place.place)).findings).toEqual([
          ...(await ofServer(place)),
          expect.stringContaining("an older release"),
        ]);
        const sink = await place.openSink();
        expect(await sink.position()).toBe(5);
        expect(await reader.position()).toBe(5);
        expect(await reader.countEntities()).toEqual(
          new Map([
            ["tag", 2],
            ["corpuser", 0],
          ]),
        );
        expect(await reader.listUrns("tag", { start: 0, count: 9 })).toEqual({
          urns: ["urn:li:tag:a", "urn:li:tag:b"],
          total: 2,
        });
        const [a] = await reader.getEntities(["urn:li:tag:a"]);
        expect(a?.aspects.get("tagKey")?.value).toBe('{"name":"a"}');
        await sink.apply([tag("c", 6), { ...tag("a", 7), version: 2 }], position(7));
        expect((await reader.listUrns("tag", { start: 0, count: 9 })).total).toBe(3);
        expect((await rowsOf()).map(({ urn, version }) => [urn, version])).toEqual(
          [
            ["urn:li:tag:a", 1],
            ["urn:li:tag:a", 2],
            ["urn:li:tag:b", 1],
            ["urn:li:tag:c", 1],
            ["urn:li:corpuser:ada", 1],
          ].toSorted(([a], [b]) => byteOrder(String(a), String(b))),
        );
        expect((await checkPostgres(place.place)).findings).toEqual(await ofServer(place));
      });

      test("tables of an earlier release stay unchanged when the upgrade fails", async () => {
        await place.change(tablesOfVersion1(place.place.name));
        const { name } = place.place;
        await place.change(`CREATE VIEW "${name}".hindrance AS SELECT 1;
          ALTER TABLE "${name}".entity_kind_g1 ADD COLUMN living text`);
        await expect(place.openSink()).rejects.toMatchObject({ code: "unavailable" });
        expect(await place.ask(`SELECT version FROM "${name}".view`)).toEqual([{ version: 1 }]);
        await place.change(`ALTER TABLE "${name}".entity_kind_g1 DROP COLUMN living`);
        expect(await (await place.openSink()).position()).toBe(5);
      });

      test("tables of a later release are rejected, and stay unchanged", async () => {
        const sink = await place.openSink();
        const reader = await place.openReader();
        await sink.apply(tags(1, 2), position(2));
        await place.change(`UPDATE "${place.place.name}".view SET version = 99`);
        const rejected = expect.objectContaining({
          code: "unavailable",
          message:
            'the view "aspects" was created by a newer release (its tables have version 99, this release has 2)',
          hint: expect.stringContaining("rebuild aspects"),
        });
        await expect(sink.apply(tags(3, 4), position(4))).rejects.toEqual(rejected);
        await expect(reader.countAspect("tagKey")).rejects.toEqual(rejected);
        await expect(place.openSink()).rejects.toEqual(rejected);
        await place.change(`UPDATE "${place.place.name}".view SET version = 2`);
        await sink.apply(tags(3, 4), position(4));
        expect(await reader.countAspect("tagKey")).toBe(4);
      });

      test("tables of another release are replaced by a rebuild", async () => {
        const sink = await place.openSink();
        await sink.apply(tags(1, 2), position(2));
        await place.change(`UPDATE "${place.place.name}".view SET version = 99`);
        const bulk = await place.openSink({ bulk: true });
        await bulk.apply(tags(1, 3), position(3));
        await bulk.close("keep");
        expect(await (await place.openReader()).position()).toBe(3);
        expect(await generations(place)).toHaveLength(1);
      });
    });

    describe("a server", () => {
      test("a server that closes connections is reconnected without an error", async () => {
        const sink = await place.openSink();
        const reader = await place.openReader();
        for (let n = 1; n <= 3; n++) {
          await sink.apply(tags(n, n), position(n));
          expect(await reader.countAspect("tagKey")).toBe(n);
          await place.disconnect();
          expect(await reader.position()).toBe(n);
          await place.disconnect();
        }
        expect(await sink.position()).toBe(3);
      });

      test("a batch during a crash of the server is written completely or not at all", async () => {
        const rows = await rowsOfHistory();
        const sink = await place.openSink();
        let going = true;
        const breaking = (async () => {
          while (going) await place.disconnect();
        })();
        let at: Position = position(0);
        while (at < end) {
          const batch = history.filter((write) => write.position > at).slice(0, 20);
          await sink.apply(batch, batch.at(-1)?.position ?? end).catch(() => {});
          at = await sink.position().catch(() => at);
        }
        going = false;
        await breaking;
        expect(await rowsOf()).toEqual(rows);
      });

      test("a server that is down or does not respond is unavailable", async () => {
        const silent = createServer(() => {});
        await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
        const address = silent.address();
        const port = typeof address === "object" ? address?.port : undefined;
        for (const at of ["127.0.0.1:1", `127.0.0.1:${port}`]) {
          const away = { url: `postgres://ada:secret@${at}/annals`, name: "annals" };
          const reader = await openPostgresAspectReader(away);
          const failures = await Promise.all(
            [openPostgresAspectSink(away), reader.position(), checkPostgres(away)].map((one) =>
              one.then(
                () => undefined,
                (error) => error,
              ),
            ),
          );
          for (const error of failures) {
            expect(error).toMatchObject({ code: "unavailable" });
            expect(error.text).toContain(at);
            expect(error.text).toContain("ANNALS_ASPECTS");
            expect(error.text).not.toContain("secret");
          }
          await reader.close();
        }
        silent.close();
      });

      test("a server without TLS is rejected if the address requires TLS", async () => {
        const [ssl] = await place.ask("SELECT current_setting('ssl') AS ssl");
        const encrypted = new URL(url);
        encrypted.searchParams.set("sslmode", "require");
        // A server with TLS has a certificate that no authority has signed.
        await expect(
          openPostgresAspectSink({ ...place.place, url: encrypted.href }),
        ).rejects.toMatchObject({
          code: "unavailable",
          message: expect.stringMatching(ssl?.ssl === "on" ? /certificate/ : /SSL/),
        });
      });

      test("the error of an unknown database or user says so", async () => {
        const nowhere = new URL(url);
        nowhere.pathname = "/annals_nowhere";
        await expect(
          openPostgresAspectSink({ ...place.place, url: nowhere.href }),
        ).rejects.toMatchObject({
          code: "unavailable",
          hint: "Create the database, or name another in ANNALS_ASPECTS",
        });
      });
    });

    describe("annals check", () => {
      test("a suitable server has no findings, before and after the view is created", async () => {
        const before = await checkPostgres(place.place);
        expect(before.version).toMatch(/^\d+/);
        expect(before.findings).toEqual(await ofServer(place));
        await place.openSink();
        expect((await checkPostgres(place.place)).findings).toEqual(await ofServer(place));
      });

      test("wrong settings and missing privileges are reported with the fix", async () => {
        const { name } = place.place;
        await place.openSink();
        await place.change(`
          CREATE ROLE "${name}" LOGIN PASSWORD 'secret';
          ALTER ROLE "${name}" SET synchronous_commit = off;
          ALTER ROLE "${name}" SET default_transaction_read_only = on`);
        const as = new URL(url);
        as.username = name;
        as.password = "secret";
        const poor = { url: as.href, name };
        const says = (...texts: string[]) => texts.map((text) => expect.stringContaining(text));
        const settings = [
          ...says("default_transaction_read_only is on"),
          ...(await ofServer(place)),
          ...says("synchronous_commit is off"),
        ];
        try {
          expect((await checkPostgres(poor)).findings).toEqual([
            ...settings,
            ...says(`GRANT USAGE, CREATE ON SCHEMA "${name}"`),
          ]);
          await place.change(`GRANT USAGE, CREATE ON SCHEMA "${name}" TO "${name}"`);
          expect((await checkPostgres(poor)).findings).toEqual([
            ...settings,
            ...says("belongs to another user"),
          ]);
          expect((await checkPostgres({ ...poor, name: `${name}_none` })).findings).toEqual([
            ...settings,
            ...says(`CREATE SCHEMA "${name}_none" AUTHORIZATION "${name}"`),
          ]);
          await expect(
            openPostgresAspectSink({ ...poor, name: `${name}_none` }),
          ).rejects.toMatchObject({ code: "unavailable", hint: expect.any(String) });
        } finally {
          await place.change(`DROP OWNED BY "${name}"; DROP ROLE "${name}"`);
        }
      });
    });
  });
});

/** Findings for settings of test servers, which are fast rather than safe. */
async function ofServer(place: PostgresPlace) {
  const [settings] = await place.ask(
    "SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages",
  );
  return [
    ...(settings?.fsync === "off" ? [expect.stringContaining("fsync is off")] : []),
    ...(settings?.pages === "off" ? [expect.stringContaining("full_page_writes is off")] : []),
  ];
}

/** The generations in the metadata. Expects tables for each of them. */
async function generations(place: PostgresPlace) {
  const { name } = place.place;
  const rows = await place.ask(`SELECT generation FROM "${name}".view ORDER BY generation`);
  const tables = await place.ask(
    `SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = '${name}'`,
  );
  expect(tables).toEqual([{ count: 1 + 4 * rows.length }]);
  return rows;
}
