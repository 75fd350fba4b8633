/** Rolling back a run for one aspect: the newest write of the other runs becomes current again. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import {
  DERIVED_HEADER,
  type RecordedWrite,
  ROLLS_BACK_HEADER,
  rollBackAspect,
} from "../../src/core/rollback.ts";

const never = () => false;
const run = (runId: string, isRolledBack: (runId: string, at: number) => boolean = never) => ({
  ...{ runId, upTo: position(Number.MAX_SAFE_INTEGER), isRolledBack },
});

let at = 0;
const write = (
  runId: string,
  changeType: RecordedWrite["changeType"] = "UPSERT",
): RecordedWrite => ({
  ...{ runId, changeType, position: position(++at), version: at },
});
const rollbackOf = (rollsBack: string, runId = "x"): RecordedWrite => ({
  ...write(runId),
  rollsBack,
});

describe("an aspect after a rollback", () => {
  test("the newest write of the other runs becomes current again", () => {
    const writes = fc.array(
      fc.record({
        runId: fc.constantFrom("a", "b", "c"),
        changeType: fc.constantFrom("UPSERT", "RESTATE", "DELETE"),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(writes, (drawn) => {
        const all = drawn.map(({ runId, changeType }) => write(runId, changeType));
        const without = all.filter(({ runId }) => runId !== "a").at(-1);
        const own = all.at(-1)?.runId === "a";
        const found = rollBackAspect(all, run("a"));
        expect(found).toEqual(
          own
            ? {
                newest: all.at(-1),
                restored: without?.changeType === "DELETE" ? undefined : without,
              }
            : undefined,
        );
      }),
      { numRuns: 300 },
    );
  });

  test("writes of earlier rollbacks are ignored", () => {
    const first = write("a");
    expect(rollBackAspect([first, write("b"), rollbackOf("b", "a")], run("a"))).toEqual({
      ...{ newest: first, restored: undefined },
    });
  });

  test("a run is rolled back once", () => {
    const all = [write("a"), write("b"), rollbackOf("b", "a")];
    expect(rollBackAspect(all, run("b"))).toBeUndefined();
    const again = write("b");
    expect(rollBackAspect([...all, again], run("b"))).toEqual({ newest: again, restored: all[0] });
  });

  test("a write that was rolled back without a record of the aspect does not return", () => {
    const all = [write("a"), write("b"), write("c")];
    const isRolledBack = (runId: string) => runId === "b";
    expect(rollBackAspect(all, run("c", isRolledBack))?.restored).toEqual(all[0]);
  });

  test("a write of a registry that was rolled back does not return", () => {
    const all = [write("a"), { ...write("b"), registry: "registry r:1" }, write("c")];
    const isRolledBack = (_: string, at: number, registry?: string) =>
      registry === "registry r:1" && at <= position(all[1]?.position ?? 0);
    expect(rollBackAspect(all, { ...run("c"), isRolledBack })?.restored).toEqual(all[0]);
  });

  test("writes of the run after its rollback remain", () => {
    const all = [write("a"), write("b")];
    expect(rollBackAspect(all, { ...run("b"), upTo: position(0) })).toBeUndefined();
  });

  test("a rollback has its own header in the log", () => {
    expect(ROLLS_BACK_HEADER).toBe("annals-undoes");
    expect(DERIVED_HEADER).toBe("annals-derived");
  });
});
