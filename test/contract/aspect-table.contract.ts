/**
 * The contract of every aspect table (src/views/aspects/aspect-table.ts). The contract of its sink
 * is in sink.contract.ts.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unknownEntity } from "../../src/core/entity-state.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import type {
  AspectReader,
  AspectSink,
  AspectWrite,
} from "../../src/views/aspects/aspect-table.ts";
import type { AspectRow, Dump } from "../support/dumped-readers.ts";
import {
  aspectHistories,
  byteOrder,
  createAspectModel,
  keyOf,
  typeOf,
  urns,
} from "./aspect-table-model.ts";

export interface AspectPlace {
  openSink(): Promise<AspectSink>;
  openReader(): Promise<AspectReader & Dump<AspectRow>>;
  remove(): Promise<void>;
}

const patterns: readonly string[] = [
  "%",
  "",
  "_",
  "urn:li:corpuser:%",
  "urn:li:corpuser:ad_",
  "urn:li:corpuser:_da",
  "urn:li:corpuser:ada",
  "%da",
  "%:Ada",
  "urn:li:%,a%b%,PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,100%_sure\\,PROD)",
  "%*%",
  "%[c]%",
  "urn%li%",
  "u%%%%_",
  "nothing%",
  "%'; DROP TABLE entity; --",
];

export function aspectTableContract(
  name: string,
  harness: { createPlace(): Promise<AspectPlace> },
): void {
  let place: AspectPlace;
  let sink: AspectSink;
  let reader: AspectReader & Dump<AspectRow>;
  let last: Position;
  let revisions: Map<string, number>;

  type WriteFields = { urn: string; aspect?: string } & Partial<AspectWrite>;

  /** Applies writes one after the other: by default, a value of the key aspect. */
  async function write(...fields: readonly WriteFields[]): Promise<void> {
    const writes = fields.map((one) => {
      last = position(last + 1);
      const next = (revisions.get(one.urn) ?? -1) + 1;
      revisions.set(one.urn, next);
      const aspect = one.aspect ?? keyOf(one.urn);
      return {
        op: "value",
        ...{ aspect, position: last, revision: revision(next), version: 1, value: `{"n":${last}}` },
        ...{ time: 1_000 + last, actor: "urn:li:corpuser:ada", system: `{"lastObserved":${last}}` },
        ...{ key: aspect === keyOf(one.urn), entityType: typeOf(one.urn) },
        ...one,
      } as AspectWrite;
    });
    await sink.apply(writes, last);
  }

  const stateOf = async (urn: string) => (await reader.getEntities([urn]))[0];

  describe(`aspect table: ${name}`, () => {
    beforeEach(async () => {
      place = await harness.createPlace();
      sink = await place.openSink();
      reader = await place.openReader();
      last = position(0);
      revisions = new Map();
    });

    afterEach(async () => {
      await reader.close();
      await sink.close();
      await place.remove();
    });

    const [ada = "", upper = "", ...others] = urns;

    test("the position advances with each batch, also with one without writes", async () => {
      expect(await reader.position()).toBe(0);
      await write({ urn: ada }, { urn: upper });
      expect(await reader.position()).toBe(last);
      await sink.apply([], position(100));
      expect(await reader.position()).toBe(100);
    });

    describe("an entity", () => {
      test("an entity without records is unknown", async () => {
        await write({ urn: ada });
        for (const urn of [upper, "urn:li:gadget:x", "urn:li:", "", "no urn", `${ada} `]) {
          expect(await stateOf(urn)).toEqual(unknownEntity(urn));
        }
      });

      test("an entity has the newest value of each aspect and the revision of its last record", async () => {
        await write({ urn: ada }, { urn: ada, aspect: "status" }, { urn: upper });
        await write({ urn: ada, aspect: "status", version: 2, value: '{"removed":true}' });
        expect(await stateOf(ada)).toEqual({
          urn: ada,
          revision: 2,
          aspects: new Map([
            [
              "corpuserKey",
              {
                name: "corpuserKey",
                version: 1,
                value: '{"n":1}',
                time: 1_001,
                actor: "urn:li:corpuser:ada",
                system: { lastObserved: 1 },
                removed: false,
              },
            ],
            [
              "status",
              {
                name: "status",
                version: 2,
                value: '{"removed":true}',
                time: 1_004,
                actor: "urn:li:corpuser:ada",
                system: { lastObserved: 4 },
                removed: false,
              },
            ],
          ]),
        });
      });

      test("a confirmation changes only the system metadata", async () => {
        await write({ urn: ada, aspect: "status" });
        await write({ op: "confirm", urn: ada, aspect: "status", system: '{"lastObserved":99}' });
        const state = await stateOf(ada);
        expect(state?.revision).toBe(1);
        expect(state?.aspects.get("status")).toMatchObject({
          version: 1,
          value: '{"n":1}',
          time: 1_001,
          system: { lastObserved: 99 },
        });
      });

      test("a removed aspect keeps its version until it has a value again", async () => {
        await write({ urn: ada }, { urn: ada, aspect: "status", value: '{"removed":true}' });
        await write({ op: "remove", urn: ada, aspect: "status" });
        const state = await stateOf(ada);
        expect(state?.revision).toBe(2);
        expect(state?.aspects.get("status")).toMatchObject({
          removed: true,
          version: 1,
          value: '{"removed":true}',
        });
        expect(state?.aspects.get("corpuserKey")?.removed).toBe(false);
        await write({ urn: ada, aspect: "status", version: 2 });
        expect((await stateOf(ada))?.aspects.get("status")).toMatchObject({
          removed: false,
          version: 2,
        });
      });

      test("a removed entity has all aspects removed, and can be created again", async () => {
        await write({ urn: ada }, { urn: ada, aspect: "status" }, { urn: upper });
        await write({ op: "remove_entity", urn: ada });
        const gone = await stateOf(ada);
        expect(gone?.revision).toBe(2);
        expect([...(gone?.aspects.values() ?? [])].map(({ removed }) => removed)).toEqual([
          true,
          true,
        ]);
        expect((await stateOf(upper))?.aspects.get("corpuserKey")?.removed).toBe(false);
        await write({ urn: ada, version: 2 });
        const back = await stateOf(ada);
        expect(back?.aspects.get("corpuserKey")).toMatchObject({ version: 2, removed: false });
        expect(back?.aspects.get("status")?.removed).toBe(true);
      });

      test("a record without a value advances the revision of its entity", async () => {
        await write({ op: "remove", urn: ada, aspect: "status" });
        expect(await stateOf(ada)).toEqual({ urn: ada, revision: revision(0), aspects: new Map() });
        await write({ urn: ada, aspect: "status" }, { urn: ada, aspect: "status", version: 2 });
        await write({ op: "confirm", urn: ada, aspect: "status", version: 1, system: "{}" });
        expect((await stateOf(ada))?.revision).toBe(3);
        await write({ op: "remove_entity", urn: upper });
        expect((await stateOf(upper))?.revision).toBe(0);
      });

      test("entities are returned in the order of the request, with repetitions", async () => {
        await write(...urns.map((urn) => ({ urn })));
        const asked = [...urns, "urn:li:corpuser:nobody", ...urns.toReversed(), ada, ada];
        const states = await reader.getEntities(asked);
        expect(states.map(({ urn }) => urn)).toEqual(asked);
        expect(states.map(({ revision }) => revision)).toEqual(
          asked.map((urn) => (urns.includes(urn) ? 0 : -1)),
        );
        expect(await reader.getEntities([])).toEqual([]);
      });

      test("a thousand entities are read in one call", async () => {
        const many = Array.from({ length: 1_000 }, (_, n) => `urn:li:tag:${n}`);
        await write(...many.map((urn) => ({ urn, value: JSON.stringify({ name: urn }) })));
        const states = await reader.getEntities(many);
        expect(states.map(({ aspects }) => aspects.get("tagKey")?.value)).toEqual(
          many.map((urn) => JSON.stringify({ name: urn })),
        );
      });

      test("text is stored unchanged, also a megabyte of it", async () => {
        const value = JSON.stringify({ text: "\u0000☃\u{1F3D4}'\"\\%_".repeat(100_000) });
        const actor = "urn:li:corpuser:o'hara \u{1F3D4}";
        await write({ urn: ada, value, actor, aspect: 'it\'s "so"' });
        expect((await stateOf(ada))?.aspects.get('it\'s "so"')).toMatchObject({ value, actor });
      });
    });

    describe("a value", () => {
      test("a value is found by its version for ever, starting with 1", async () => {
        await write({ urn: ada, aspect: "status" }, { urn: ada, aspect: "status", version: 2 });
        await write({ op: "remove", urn: ada, aspect: "status" });
        await write({ op: "confirm", urn: ada, aspect: "status", version: 2, system: '{"a":1}' });
        await write({ op: "remove_entity", urn: ada });
        expect(await reader.findValue(ada, "status", 1)).toEqual({
          version: 1,
          value: '{"n":1}',
          time: 1_001,
          actor: "urn:li:corpuser:ada",
          system: '{"lastObserved":1}',
        });
        expect((await reader.findValue(ada, "status", 2))?.system).toBe('{"a":1}');
      });

      test("a missing value is undefined", async () => {
        await write({ urn: ada, aspect: "status" });
        for (const version of [0, 2, -1, Number.MAX_SAFE_INTEGER]) {
          expect(await reader.findValue(ada, "status", version)).toBeUndefined();
        }
        expect(await reader.findValue(ada, "ownership", 1)).toBeUndefined();
        expect(await reader.findValue(ada, "__proto__", 1)).toBeUndefined();
        expect(await reader.findValue(upper, "status", 1)).toBeUndefined();
      });
    });

    describe("the entities of a type", () => {
      test("the entities of a type are listed in byte order of their urns", async () => {
        await write(...urns.map((urn) => ({ urn })));
        const { urns: listed } = await reader.listUrns("corpuser", { start: 0, count: 100 });
        expect(listed).toEqual([
          "urn:li:corpuser:Ada",
          "urn:li:corpuser:a b",
          "urn:li:corpuser:ad",
          "urn:li:corpuser:ada",
          "urn:li:corpuser:áda",
          "urn:li:corpuser:\uFF5Eda",
          "urn:li:corpuser:\u{1D49C}da",
        ]);
      });

      test("each entity of a type is on exactly one page", async () => {
        const many = Array.from({ length: 25 }, (_, n) => `urn:li:tag:${n}`);
        await write(...many.map((urn) => ({ urn })), { urn: ada });
        for (const count of [1, 4, 25, 100]) {
          const pages: string[] = [];
          for (let start = 0; start < 25; start += count) {
            const page = await reader.listUrns("tag", { start, count });
            expect(page.total).toBe(25);
            pages.push(...page.urns);
          }
          expect(pages).toEqual(many.toSorted());
        }
        expect(await reader.listUrns("tag", { start: 0, count: 0 })).toEqual({
          urns: [],
          total: 25,
        });
        expect(await reader.listUrns("tag", { start: 99, count: 9 })).toEqual({
          urns: [],
          total: 25,
        });
        expect(await reader.listUrns("gadget", { start: 0, count: 9 })).toEqual({
          urns: [],
          total: 0,
        });
      });

      test("the entities of a type are listed together, whatever the case of the type in their urns", async () => {
        const spelt = ["urn:li:Gadget:b", "urn:li:gadget:a", "urn:x:gadget:a", "urn:li:Gadget:a"];
        await write(...spelt.map((urn) => ({ urn, aspect: "k", key: true, entityType: "gadget" })));
        const sorted = spelt.toSorted();
        for (const start of [0, 1, 2, 3]) {
          const page = await reader.listUrns("gadget", { start, count: 2 });
          expect(page).toEqual({ urns: sorted.slice(start, start + 2), total: 4 });
        }
        expect(await reader.countEntities()).toEqual(new Map([["gadget", 4]]));
      });

      /** All entities of a type, in pages that begin after the last urn; `between` runs after each. */
      async function paged(
        type: string,
        count: number,
        between: (page: readonly string[]) => Promise<void> = async () => {},
      ): Promise<readonly string[]> {
        const all: string[] = [];
        for (;;) {
          const page = await reader.urnsAfter(type, all.at(-1) ?? "", count);
          expect(page.length).toBeLessThanOrEqual(count);
          all.push(...page);
          if (page.length < count) return all;
          await between(page);
        }
      }

      test.each([1, 2, 3, 5, 7, 100])(
        "pages of %i that begin after a urn have each entity once, in byte order",
        async (count) => {
          // They differ only after what an index may compare.
          const long = Array.from({ length: 9 }, (_, n) => `urn:li:tag:${"x".repeat(900)}${n}`);
          const spelt = ["urn:li:Gadget:b", "urn:li:gadget:a", "urn:x:gadget:a", "urn:li:Gadget:a"];
          await write(
            ...[...urns, ...long].map((urn) => ({ urn })),
            ...spelt.map((urn) => ({ urn, aspect: "k", key: true, entityType: "gadget" })),
            { urn: "urn:li:tag:without", aspect: "status" },
          );
          for (const type of ["corpuser", "dataset"]) {
            const own = urns.filter((urn) => typeOf(urn) === type);
            expect(await paged(type, count)).toEqual(own.toSorted(byteOrder));
          }
          const tags = urns.filter((urn) => typeOf(urn) === "tag");
          expect(await paged("tag", count)).toEqual([...tags, ...long].toSorted(byteOrder));
          expect(await paged("gadget", count)).toEqual(spelt.toSorted());
          expect(await reader.urnsAfter("gadget", "urn:li:Gadget:aa", count)).toEqual(
            ["urn:li:Gadget:b", "urn:li:gadget:a", "urn:x:gadget:a"].slice(0, count),
          );
          expect(await reader.urnsAfter("nothing", "", count)).toEqual([]);
          expect(await reader.urnsAfter("tag", "", 0)).toEqual([]);
        },
      );

      test("pages that begin after a urn lose no entity while others are created and deleted", async () => {
        const named = (n: number) => `urn:li:tag:${String(n).padStart(3, "0")}`;
        const all = Array.from({ length: 40 }, (_, n) => named(2 * n));
        const removed = new Set<string>();
        await write(...all.map((urn) => ({ urn })));
        const seen = await paged("tag", 4, async (page) => {
          const [first = "", , , last = ""] = page;
          const next = named(Number(last.slice("urn:li:tag:".length)) + 2);
          // Of the entities that are deleted, one was returned and one was not.
          for (const urn of [first, next]) {
            removed.add(urn);
            await write({ op: "remove_entity", urn });
          }
          await write({ urn: `${first}0` }, { urn: `${last}0` });
        });
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(seen.toSorted(byteOrder));
        expect(seen).toEqual(expect.arrayContaining(all.filter((urn) => !removed.has(urn))));
      });

      test("the listed entities are those with a key aspect that are not removed", async () => {
        await write({ urn: ada }, { urn: upper, aspect: "status" }, { urn: others[0] ?? "" });
        await write({ op: "remove_entity", urn: others[0] ?? "" });
        expect(await reader.listUrns("corpuser", { start: 0, count: 9 })).toEqual({
          urns: [ada],
          total: 1,
        });
        await write({ urn: upper }, { urn: others[0] ?? "", version: 2 });
        expect((await reader.listUrns("corpuser", { start: 0, count: 9 })).total).toBe(3);
      });

      test("the entities of a type are counted", async () => {
        expect(await reader.countEntities()).toEqual(new Map());
        await write(...urns.map((urn) => ({ urn })), { urn: ada, version: 2 });
        await write({ op: "remove_entity", urn: ada }, { op: "remove_entity", urn: ada });
        const counts = await reader.countEntities();
        expect(counts.get("corpuser")).toBe(6);
        expect(counts.get("dataset")).toBe(5);
        expect(counts.has("gadget")).toBe(false);
        await write({ urn: "urn:li:gadget:a", aspect: "status", entityType: "gadget" });
        expect((await reader.countEntities()).get("gadget")).toBe(0);
      });
    });

    describe("the entities that have an aspect", () => {
      test("the entities with an aspect are counted by their present state", async () => {
        await write({ urn: ada, aspect: "status" }, { urn: upper, aspect: "status" }, { urn: ada });
        expect(await reader.countAspect("status")).toBe(2);
        await write({ urn: ada, aspect: "status", version: 2 });
        expect(await reader.countAspect("status")).toBe(2);
        await write({ op: "remove", urn: ada, aspect: "status" });
        expect(await reader.countAspect("status")).toBe(1);
        await write(
          { op: "remove_entity", urn: upper },
          { urn: ada, aspect: "status", version: 3 },
        );
        expect(await reader.countAspect("status")).toBe(1);
        expect(await reader.countAspect("ownership")).toBe(0);
      });

      test.each(patterns)(
        "the entities with an aspect are counted by urns like %j",
        async (pattern) => {
          await write(...urns.map((urn) => ({ urn, aspect: "status" })));
          const like = likeRegExp(pattern);
          expect(await reader.countAspect("status", pattern)).toBe(
            urns.filter((urn) => like.test(urn)).length,
          );
        },
      );

      test("a pattern with exponential backtracking is counted fast", async () => {
        await write({ urn: `urn:li:tag:${"a".repeat(500)}`, aspect: "status" });
        expect(await reader.countAspect("status", `${"%a".repeat(200)}b`)).toBe(0);
      });

      test("the entities with an aspect are counted among many", async () => {
        const many = Array.from({ length: 4_500 }, (_, n) => `urn:li:tag:${n}`);
        await write(...many.map((urn) => ({ urn, aspect: "status" })), { urn: ada });
        expect(await reader.countAspect("status")).toBe(4_500);
        expect(await reader.countAspect("status", "urn:li:tag:1%")).toBe(1_111);
      });
    });

    test("the table equals a simple model after any history", async () => {
      await fc.assert(
        fc.asyncProperty(aspectHistories(1, 150), async (history) => {
          await sink.reset();
          const model = createAspectModel();
          for (const write of history) model.apply(write);
          const end = position((history.at(-1)?.position ?? 0) + 1);
          await sink.apply(history, end);

          expect(await reader.getEntities(urns)).toEqual(urns.map(model.getEntity));
          expect(await Array.fromAsync(reader.dump())).toEqual(model.rows());
          for (const { urn, aspect, version } of model.rows()) {
            expect(await reader.findValue(urn, aspect, version)).toEqual(
              model.findValue(urn, aspect, version),
            );
          }
          const counts = await reader.countEntities();
          for (const type of ["corpuser", "dataset", "tag"]) {
            const expected = model.listUrns(type);
            const page = await reader.listUrns(type, { start: 1, count: 3 });
            expect(page).toEqual({ urns: expected.slice(1, 4), total: expected.length });
            expect(counts.get(type) ?? 0).toBe(expected.length);
            for (const after of ["", ...urns]) {
              const later = expected.filter((urn) => byteOrder(urn, after) > 0);
              expect(await reader.urnsAfter(type, after, 2)).toEqual(later.slice(0, 2));
            }
          }
          for (const aspect of ["status", "corpuserKey"]) {
            expect(await reader.countAspect(aspect)).toBe(model.having(aspect).length);
          }
        }),
        { numRuns: 20 },
      );
    });

    test("a closed table is unavailable, and closing twice is allowed", async () => {
      await reader.close();
      await reader.close();
      const unavailable = expect.objectContaining({ code: "unavailable" });
      await expect(reader.getEntities([ada])).rejects.toEqual(unavailable);
      await expect(reader.findValue(ada, "status", 1)).rejects.toEqual(unavailable);
      await expect(reader.listUrns("tag", { start: 0, count: 1 })).rejects.toEqual(unavailable);
      await expect(reader.urnsAfter("tag", "", 1)).rejects.toEqual(unavailable);
      await expect(reader.countEntities()).rejects.toEqual(unavailable);
      await expect(reader.countAspect("status")).rejects.toEqual(unavailable);
    });
  });
}

/** LIKE of SQL, as a regular expression. */
const likeRegExp = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
      .replaceAll("%", ".*")
      .replaceAll("_", ".")}$`,
    "su",
  );
