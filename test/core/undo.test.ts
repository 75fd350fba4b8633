/** Undoing a run for one aspect: what holds is what the others told. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { type Telling, UNDOES_HEADER, undoAspect } from "../../src/core/undo.ts";

const never = () => false;
const run = (runId: string, isUndone: (runId: string, at: number) => boolean = never) => ({
  ...{ runId, upTo: position(Number.MAX_SAFE_INTEGER), isUndone },
});

let at = 0;
const told = (runId: string, changeType: Telling["changeType"] = "UPSERT"): Telling => ({
  ...{ runId, changeType, position: position(++at), version: at },
});
const undoing = (undoes: string, runId = "x"): Telling => ({ ...told(runId), undoes });

describe("an aspect without a run", () => {
  test("is what the others told last, whoever told when", () => {
    const tellings = fc.array(
      fc.record({
        runId: fc.constantFrom("a", "b", "c"),
        changeType: fc.constantFrom("UPSERT", "RESTATE", "DELETE"),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(tellings, (drawn) => {
        const all = drawn.map(({ runId, changeType }) => told(runId, changeType));
        const without = all.filter(({ runId }) => runId !== "a").at(-1);
        const own = all.at(-1)?.runId === "a";
        const found = undoAspect(all, run("a"));
        expect(found).toEqual(
          own
            ? { told: all.at(-1), restored: without?.changeType === "DELETE" ? undefined : without }
            : undefined,
        );
      }),
      { numRuns: 300 },
    );
  });

  test("does not count what an undoing wrote", () => {
    const first = told("a");
    expect(undoAspect([first, told("b"), undoing("b", "a")], run("a"))).toEqual({
      ...{ told: first, restored: undefined },
    });
  });

  test("is undone once", () => {
    const all = [told("a"), told("b"), undoing("b", "a")];
    expect(undoAspect(all, run("b"))).toBeUndefined();
    const again = told("b");
    expect(undoAspect([...all, again], run("b"))).toEqual({ told: again, restored: all[0] });
  });

  test("does not bring back what was undone without a record here", () => {
    const all = [told("a"), told("b"), told("c")];
    const isUndone = (runId: string) => runId === "b";
    expect(undoAspect(all, run("c", isUndone))?.restored).toEqual(all[0]);
  });

  test("does not bring back what was told with a registry that was undone", () => {
    const all = [told("a"), { ...told("b"), registry: "registry r:1" }, told("c")];
    const isUndone = (_: string, at: number, registry?: string) =>
      registry === "registry r:1" && at <= position(all[1]?.position ?? 0);
    expect(undoAspect(all, { ...run("c"), isUndone })?.restored).toEqual(all[0]);
  });

  test("keeps what the run tells afterwards", () => {
    const all = [told("a"), told("b")];
    expect(undoAspect(all, { ...run("b"), upTo: position(0) })).toBeUndefined();
  });

  test("has a header of its own in the log", () => {
    expect(UNDOES_HEADER).toBe("annals-undoes");
  });
});
