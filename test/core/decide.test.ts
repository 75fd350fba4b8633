/**
 * Decisions in the form: for a state, commands produce changes. Versions are checked under random
 * histories against a simple model.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.ts";
import { type AspectCommand, type DecisionContext, decide } from "../../src/core/decide.ts";
import { currentAspect, type EntityState, unknownEntity } from "../../src/core/entity-state.ts";

const URN = "urn:li:tag:a";
const SYSTEM = "urn:li:corpuser:__datahub_system";
const settled = (value: Record<string, unknown>) => ({ value, text: JSON.stringify(value) });

const context = (over: Partial<DecisionContext> = {}): DecisionContext => ({
  entityType: "tag",
  keyAspect: "tagKey",
  created: { time: 1000, actor: "urn:li:corpuser:ann" },
  systemActor: SYSTEM,
  defaultAspects: () => [
    { aspect: "tagKey", validated: settled({ name: "a" }), schemaVersion: 1 },
    { aspect: "browsePaths", validated: settled({ paths: ["/x"] }), schemaVersion: 1 },
  ],
  ...over,
});

const command = (over: Partial<AspectCommand> = {}): AspectCommand => ({
  aspect: "tagProperties",
  kind: "put",
  value: settled({ name: "a" }),
  schemaVersion: 1,
  system: {},
  conditions: {},
  label: "",
  ...over,
});

const stateAfter = (...batches: AspectCommand[][]): EntityState =>
  batches.reduce((state, commands) => decide(state, commands, context()).next, unknownEntity(URN));

const brief = (changes: readonly Change[]) =>
  changes.map(
    (c) => `${c.changeType} ${c.aspect}${c.system.version ? ` ${c.system.version}` : ""}`,
  );

describe("deciding", () => {
  test("a new entity gets its key aspect first and its default aspects last", () => {
    const { changes, next } = decide(unknownEntity(URN), [command()], context());
    expect(brief(changes)).toEqual([
      "UPSERT tagKey 1",
      "UPSERT tagProperties 1",
      "UPSERT browsePaths 1",
    ]);
    expect(next.revision).toBe(2);
  });

  test("a default aspect that the request writes is not added, also for CREATE", () => {
    const own = command({
      aspect: "browsePaths",
      kind: "create",
      value: settled({ paths: ["/own"] }),
    });
    const { next } = decide(unknownEntity(URN), [own], context());
    expect(next.aspects.get("browsePaths")?.value).toBe('{"paths":["/own"]}');
    expect(next.aspects.get("browsePaths")?.version).toBe(1);
  });

  test("a put of an equal value restates it, whatever the order of its members", () => {
    const state = stateAfter([command({ value: settled({ name: "a", description: "b" }) })]);
    const again = command({
      value: settled({ description: "b", name: "a" }),
      system: { runId: "r2" },
    });
    const { changes, next } = decide(state, [again], context());
    expect(brief(changes)).toEqual(["RESTATE tagProperties 1"]);
    expect(changes[0]?.value).toBeUndefined();
    expect(next.aspects.get("tagProperties")?.system).toMatchObject({ runId: "r2", version: "1" });
  });

  test("a restatement repeats the value with its stamp and changes no state", () => {
    const state = stateAfter([command({ system: { runId: "r1" } })]);
    const later = context({ created: { time: 2000, actor: "urn:li:corpuser:ben" } });
    const restate = command({ kind: "restate", value: undefined });
    const { changes, next } = decide(state, [restate], later);
    expect(changes).toMatchObject([
      {
        changeType: "RESTATE",
        aspect: "tagProperties",
        value: '{"name":"a"}',
        created: { time: 1000, actor: "urn:li:corpuser:ann" },
        system: state.aspects.get("tagProperties")?.system,
      },
    ]);
    expect(next.aspects).toEqual(state.aspects);
    expect(decide(state, [{ ...restate, aspect: "ownership" }], later).changes).toEqual([]);
  });

  test("a value that is only confirmed keeps its stamp", () => {
    const state = stateAfter([command()]);
    const later = context({ created: { time: 9000, actor: "urn:li:corpuser:bob" } });
    const { next } = decide(state, [command()], later);
    expect(next.aspects.get("tagProperties")).toMatchObject({
      time: 1000,
      actor: "urn:li:corpuser:ann",
    });
  });

  test("values of equal length are distinguished", () => {
    const state = stateAfter([command({ value: settled({ name: "a" }) })]);
    const { changes } = decide(state, [command({ value: settled({ name: "b" }) })], context());
    expect(brief(changes)).toEqual(["UPSERT tagProperties 2"]);
  });

  test("versions continue after a delete", () => {
    const state = stateAfter(
      [command()],
      [command({ kind: "delete", value: undefined })],
      [command()],
    );
    expect(currentAspect(state, "tagProperties")?.version).toBe(2);
  });

  test("a delete of a missing aspect is rejected", () => {
    const gone = command({ kind: "delete", value: undefined, label: "proposals[3]: " });
    expect(() => decide(unknownEntity(URN), [gone], context())).toThrow(
      'proposals[3]: there is no "tagProperties" to delete',
    );
  });

  test("a delete of the key deletes the entity, and a new write continues the versions", () => {
    const remove = command({ aspect: "tagKey", kind: "delete", value: undefined });
    const deleted = decide(stateAfter([command()]), [remove], context());
    expect(brief(deleted.changes)).toEqual(["DELETE tagKey 1"]);
    expect([...deleted.next.aspects.values()].every((aspect) => aspect.removed)).toBe(true);
    const back = decide(deleted.next, [command()], context());
    expect(brief(back.changes)).toEqual([
      "UPSERT tagKey 2",
      "UPSERT tagProperties 2",
      "UPSERT browsePaths 2",
    ]);
  });

  test("a request that deletes and writes an entity writes the new aspects after the delete", () => {
    const remove = command({ aspect: "tagKey", kind: "delete", value: undefined });
    const { changes } = decide(stateAfter([command()]), [remove, command()], context());
    expect(brief(changes)).toEqual([
      "DELETE tagKey 1",
      "UPSERT tagKey 2",
      "UPSERT tagProperties 2",
      "UPSERT browsePaths 2",
    ]);
  });

  test.each([
    ["create", "the aspect already exists"],
    ["create_entity", "the entity key already exists"],
  ] as const)(
    "%s of an existing aspect is rejected, and skipped with If-None-Match",
    (kind, why) => {
      const state = stateAfter([command()]);
      expect(() => decide(state, [command({ kind })], context())).toThrow(why);
      const lenient = command({ kind, conditions: { noneMatch: true } });
      expect(decide(state, [lenient], context())).toEqual({ changes: [], next: state });
    },
  );

  test.each([
    [{ versionMatch: 1 }, undefined],
    [{ versionMatch: 77 }, "Expected version 77, actual version 1"],
    [{ versionMatch: -1 }, "Expected version -1, actual version 1"],
    [{ modifiedSince: 999 }, undefined],
    [{ modifiedSince: 1000 }, "not modified since"],
    [{ unmodifiedSince: 1000 }, undefined],
    [{ unmodifiedSince: 999 }, "modified since"],
  ])("the condition %j is checked against the current aspect", (conditions, rejection) => {
    const run = () => decide(stateAfter([command()]), [command({ conditions })], context());
    if (rejection === undefined) expect(run().changes).toHaveLength(1);
    else expect(run).toThrow(rejection);
  });

  test("writes of users set created and modified stamps, writes of the system do not", () => {
    const bySystem = context({ created: { time: 5, actor: SYSTEM } });
    const first = decide(unknownEntity(URN), [command()], bySystem);
    expect(first.changes[0]?.system.aspectCreated).toBeUndefined();
    const second = decide(first.next, [command({ value: settled({ name: "b" }) })], context());
    expect(second.changes[0]?.system).toMatchObject({
      lastRunId: "no-run-id-provided",
      aspectModified: { time: 1000, actor: "urn:li:corpuser:ann" },
    });
  });
});

describe("versions under random histories", () => {
  const aspects = ["tagProperties", "ownership", "status"];
  const action = fc.oneof(
    fc.record({
      do: fc.constant("put" as const),
      aspect: fc.constantFrom(...aspects),
      value: fc.nat(2),
    }),
    fc.record({ do: fc.constant("delete" as const), aspect: fc.constantFrom(...aspects) }),
    fc.record({ do: fc.constant("deleteEntity" as const) }),
  );

  test("versions are gapless, counted per aspect, and never used twice", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (history) => {
        let state = unknownEntity(URN);
        let revision = -1;
        // The simple model: all values that each aspect ever had, and its current value.
        const values = new Map<string, string[]>();
        const current = new Map<string, string>();
        for (const step of history) {
          const aspect = "aspect" in step ? step.aspect : "tagKey";
          const exists = current.size > 0;
          const put = step.do === "put";
          const value = settled({ n: "value" in step ? step.value : 0 });
          const one = command({
            aspect,
            kind: put ? "put" : "delete",
            value: put ? value : undefined,
          });
          const possible = put || (step.do === "delete" ? current.has(aspect) : exists);
          if (!possible) {
            expect(() => decide(state, [one], context())).toThrow("to delete");
            continue;
          }
          const { changes, next } = decide(state, [one], context());
          if (put) {
            if (!exists) {
              for (const { aspect: name, validated: made } of context().defaultAspects()) {
                values.set(name, [...(values.get(name) ?? []), made.text]);
                current.set(name, made.text);
              }
            }
            if (current.get(aspect) !== value.text) {
              values.set(aspect, [...(values.get(aspect) ?? []), value.text]);
              current.set(aspect, value.text);
            }
          } else if (step.do === "delete") current.delete(aspect);
          else current.clear();
          revision += changes.length;
          state = next;
          expect(state.revision).toBe(revision);
          for (const [name, all] of values) {
            expect(state.aspects.get(name)?.version).toBe(all.length);
            expect(currentAspect(state, name)?.value).toBe(current.get(name));
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
