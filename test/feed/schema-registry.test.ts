/** The schema registry on a real log, used by several nodes. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { EMPTY_STREAM, position, revision } from "../../src/core/position.ts";
import { SCHEMAS } from "../../src/core/stream.ts";
import { eventSchemas, foreignIdsFrom } from "../../src/feed/event-schemas.ts";
import { createSchemaRegistry, type SchemaRegistry } from "../../src/feed/schema-registry.ts";
import { type ChangeLog, WrongRevision } from "../../src/log/change-log.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

let directory: TemporaryDirectory;
let log: ChangeLog;
beforeEach(async () => {
  directory = temporaryDirectory("annals-schemas");
  log = await openLog();
});
afterEach(async () => {
  await log.close();
  directory[Symbol.dispose]();
});

const openLog = () => openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });

const openRegistry = (authorize?: (actor: string | undefined) => void): SchemaRegistry =>
  createSchemaRegistry({ log, now: () => 1_000, systemActor: "urn:li:corpuser:s", authorize });

/** A record with text fields of these names; those with "?" are optional. */
const schema = (name: string, ...fields: readonly string[]): string =>
  JSON.stringify({
    type: "record",
    name,
    namespace: "org.acme",
    fields: fields.map((field) =>
      field.endsWith("?")
        ? { name: field.slice(0, -1), type: ["null", "string"], default: null }
        : { name: field, type: "string" },
    ),
  });

const rejected = (code: string, registryCode: number) =>
  expect.objectContaining({ code, registryCode });

const TOPIC = "MetadataChangeProposal_v1-value";

describe("schema ids", () => {
  test("the ids of built-in schemas are fixed, and nothing is written for them", async () => {
    const registry = openRegistry();
    for (const { id, text, subjects, alsoRead } of eventSchemas) {
      for (const one of [id, ...alsoRead]) expect(await registry.findSchema(one)).toBe(text);
      for (const subject of subjects) {
        expect(await registry.version(subject, "latest")).toEqual({
          ...{ subject, id, version: 1, schema: text },
        });
        expect(await registry.register(subject, text)).toMatchObject({ id, version: 1 });
      }
      expect(await registry.usesOf(id)).toEqual(
        subjects.map((subject) => ({ subject, version: 1 })),
      );
    }
    expect(await log.head()).toBe(0);
  });

  test("a registration that loses every race fails with a conflict that says so", async () => {
    const outrun: Pick<ChangeLog, "append" | "readStream"> = {
      readStream: (...asked) => log.readStream(...asked),
      append: () => Promise.reject(new WrongRevision(SCHEMAS, EMPTY_STREAM, revision(0))),
    };
    const registry = createSchemaRegistry({
      log: outrun,
      now: () => 0,
      systemActor: "urn:li:corpuser:s",
    });
    await expect(registry.register("one", schema("Ping", "a"))).rejects.toMatchObject({
      code: "conflict",
      text: "lost the race for the next schema 20 times. Send it again",
    });
  });

  test("a schema has one id under every subject, in every spelling, on every node, and after a restart", async () => {
    const ping = schema("Ping", "a");
    const first = await openRegistry().register("one", ping);
    expect(first).toEqual({ subject: "one", version: 1, id: foreignIdsFrom, schema: ping });

    const other = openRegistry();
    const { name, ...rest } = JSON.parse(ping);
    const spelt = JSON.stringify({ ...rest, name }, null, 2);
    expect(await other.register("one", spelt)).toEqual(first);
    expect(await other.register("two", spelt)).toMatchObject({ version: 1, id: first.id });
    expect(await other.register("two", schema("Ping", "a", "b?"))).toMatchObject({
      ...{ version: 2, id: foreignIdsFrom + 1 },
    });
    // The documentation of a field is part of the schema.
    const documented = ping.replace('"name":"a"', '"doc":"An a.","name":"a"');
    expect(await other.register("one", documented)).toMatchObject({ id: foreignIdsFrom + 2 });

    await log.close();
    log = await openLog();
    const later = openRegistry();
    expect(await later.findSchema(first.id)).toBe(ping);
    expect(await later.lookUp("two", ping)).toMatchObject({ id: first.id });
    expect(await later.usesOf(first.id)).toEqual([
      { subject: "one", version: 1 },
      { subject: "two", version: 1 },
    ]);
  });

  test("concurrent registrations on several nodes never get the same id", async () => {
    const nodes = [openRegistry(), openRegistry(), openRegistry()];
    const registered = await Promise.all(
      nodes.flatMap((node, n) =>
        Array.from({ length: 8 }, (_, i) =>
          // Every second schema is the same on all nodes.
          node.register(`s${i}`, schema(`S${i}`, i % 2 === 0 ? "a?" : `of${n}?`)),
        ),
      ),
    );
    const pairs = new Set(registered.map(({ id, schema: text }) => `${id} ${text}`));
    expect(pairs.size).toBe(4 + 12);
    expect(new Set(registered.map(({ id }) => id)).size).toBe(4 + 12);
    expect(new Set(registered.map(({ schema: text }) => text)).size).toBe(4 + 12);
    // All nodes return the same versions.
    const versions = await Promise.all(nodes.map((node) => node.versions("s1")));
    expect(versions[0]).toHaveLength(3);
    expect(versions[1]).toEqual(versions[0]);
    expect(versions[2]).toEqual(versions[0]);
  });

  test("a schema that another node registered is found by its id", async () => {
    const reader = openRegistry();
    expect(await reader.findSchema(foreignIdsFrom)).toBeUndefined();
    await openRegistry().register("one", schema("Ping", "a"));
    expect(await reader.findSchema(foreignIdsFrom)).toBe(schema("Ping", "a"));
    expect(await reader.findSchema(Number.NaN)).toBeUndefined();
  });
});

test("a registration is no change of the catalog", async () => {
  await openRegistry().register("one", schema("Ping", "a"));
  const [record, ...others] = await log.readAll(position(0), { limit: 10 });
  expect(others).toEqual([]);
  expect(record?.stream).toBe(SCHEMAS);
  expect(record && decodeRecord(record)).toBeUndefined();
});

describe("compatibility", () => {
  const base = schema("Ping", "a");
  const wider = schema("Ping", "a", "b?");
  const needing = schema("Ping", "a", "b");

  test.each([
    ["NONE", [wider, needing, '"string"'], []],
    ["BACKWARD", [wider, base], [needing, '"string"']],
    ["FORWARD", [wider, needing], ['"string"']],
    ["FULL", [wider], [needing, '"string"']],
  ])("the level %s accepts and rejects schemas by its rule", async (level, taken, incompatible) => {
    const registry = openRegistry();
    await registry.setCompatibility("s", level);
    await registry.register("s", base);
    for (const one of incompatible) {
      expect(await registry.check("s", one)).not.toEqual([]);
      await expect(registry.register("s", one)).rejects.toEqual(rejected("conflict", 409));
    }
    for (const one of taken) expect(await registry.check("s", one, "1")).toEqual([]);
    expect(await registry.register("s", taken[0] ?? "")).toMatchObject({ version: 2 });
  });

  test("a transitive level checks all versions, and other levels only the last", async () => {
    const registry = openRegistry();
    // Incompatible with an earlier version: text instead of a number.
    const number = base.replace('"type":"string"', '"type":"int"');
    for (const [subject, level] of Object.entries({
      last: "BACKWARD",
      all: "backward_transitive",
    })) {
      await registry.setCompatibility(subject, "NONE");
      await registry.register(subject, number);
      await registry.register(subject, base);
      await registry.setCompatibility(subject, level);
    }
    expect(await registry.check("last", wider)).toEqual([]);
    expect(await registry.check("all", wider)).toEqual([
      expect.stringMatching(/^it does not read what version 1 wrote: /),
    ]);
  });

  test("records are compared by names without namespaces, as Avro does", async () => {
    const registry = openRegistry();
    const older = (eventSchemas.find(({ id }) => id === 16)?.text ?? "").replaceAll(
      "com.linkedin.pegasus2avro",
      "com.linkedin",
    );
    expect(await registry.register(TOPIC, older)).toMatchObject({ version: 2 });
  });

  test("the level of the built-in topics is always FULL_TRANSITIVE", async () => {
    const registry = openRegistry();
    await registry.setCompatibility(undefined, "NONE");
    expect(await registry.compatibility("s")).toBe("NONE");
    for (const { subjects, text } of eventSchemas) {
      const own = JSON.parse(text);
      const withField = (field: object) =>
        JSON.stringify({ ...own, fields: [...own.fields, { name: "added", ...field }] });
      for (const subject of subjects) {
        expect(await registry.compatibility(subject)).toBe("FULL_TRANSITIVE");
        await expect(registry.setCompatibility(subject, "NONE")).rejects.toEqual(
          rejected("invalid", 42203),
        );
        const empty = JSON.stringify({ ...own, fields: [] });
        for (const foreign of [
          '"string"',
          schema("Ping", "a"),
          empty,
          withField({ type: "int" }),
        ]) {
          expect(await registry.check(subject, foreign)).not.toEqual([]);
          await expect(registry.register(subject, foreign)).rejects.toEqual(
            rejected("conflict", 409),
          );
        }
        const wider = withField({ type: ["null", "string"], default: null });
        expect(await registry.register(subject, wider)).toMatchObject({ version: 2 });
        expect(await registry.setCompatibility(subject, "FULL_TRANSITIVE")).toBe("FULL_TRANSITIVE");
      }
    }
  });

  test("a level is set globally or for a subject, and applies on all nodes", async () => {
    const registry = openRegistry();
    expect(await registry.compatibility()).toBe("BACKWARD");
    await registry.setCompatibility(undefined, "FULL");
    await registry.setCompatibility("s", "none");
    const other = openRegistry();
    expect(await other.compatibility("t")).toBe("FULL");
    expect(await other.compatibility("s")).toBe("NONE");
    await expect(registry.setCompatibility("s", "SOME")).rejects.toEqual(
      rejected("invalid", 42203),
    );
    const head = await log.head();
    await registry.setCompatibility("s", "NONE");
    expect(await log.head()).toBe(head);
  });
});

describe("errors", () => {
  test("missing and invalid subjects, versions and schemas have the error codes of Confluent's registry", async () => {
    const registry = openRegistry();
    const ping = schema("Ping", "a");
    await expect(registry.versions("s")).rejects.toEqual(rejected("not_found", 40401));
    await expect(registry.version(TOPIC, "2")).rejects.toEqual(rejected("not_found", 40402));
    for (const version of ["0", "x", "-2", "1.5"]) {
      await expect(registry.version(TOPIC, version)).rejects.toEqual(rejected("invalid", 42202));
    }
    await expect(registry.lookUp(TOPIC, ping)).rejects.toEqual(rejected("not_found", 40403));
    await expect(registry.usesOf(7)).rejects.toEqual(rejected("not_found", 40403));
    await expect(registry.schema(7)).rejects.toEqual(rejected("not_found", 40403));
    for (const text of ["", "{", "{}", '"nothing"', '{"type":"record","name":"a-b","fields":[]}']) {
      await expect(registry.register("s", text)).rejects.toEqual(rejected("invalid", 42201));
    }
    await expect(registry.register("s", "[".repeat(100_000))).rejects.toEqual(
      rejected("invalid", 42201),
    );
    for (const subject of ["", "x".repeat(256)]) {
      await expect(registry.register(subject, ping)).rejects.toEqual(rejected("invalid", 42208));
    }
    expect(await log.head()).toBe(0);
  });

  test("an unauthorized registration is rejected, and registered schemas are readable by all", async () => {
    const closed = new CatalogError("forbidden", "no");
    const registry = openRegistry((actor) => {
      if (actor === undefined) throw closed;
    });
    const ping = schema("Ping", "a");
    await expect(registry.register("s", ping)).rejects.toEqual(closed);
    await expect(registry.setCompatibility("s", "NONE")).rejects.toEqual(closed);
    expect(await log.head()).toBe(0);
    const { id } = await registry.register("s", ping, "urn:li:corpuser:a");
    expect(await registry.register("s", ping)).toMatchObject({ id });
  });
});
