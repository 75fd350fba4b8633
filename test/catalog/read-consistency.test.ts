/** The position that a response reflects, with one writer of the log and with several. */
import { describe, expect, test } from "vitest";
import { createShownPositions } from "../../src/catalog/read-consistency.ts";
import { position } from "../../src/core/position.ts";

/** A process that has written up to position 90, with views at 50. */
function shown(sharedLog: boolean) {
  const waited: string[] = [];
  const positions = createShownPositions({
    sharedLog,
    positionOf: () => position(50),
    reached: async (view, at) => void waited.push(`${view} ${at}`),
    answered: () => position(90),
  });
  return { ...positions, waited };
}

describe("a process that is the only writer of the log", () => {
  test("entity reads reflect all own writes before the view has them", async () => {
    const { reach, positionOf, waited } = shown(false);
    await reach("entities", position(90));
    expect([positionOf("entities"), waited]).toEqual([90, []]);
  });

  test("reads wait for positions of other writers, and for the search view", async () => {
    const { reach, positionOf, waited } = shown(false);
    await reach("entities", position(91));
    await reach("search", position(60));
    expect([positionOf("search"), waited]).toEqual([50, ["entities 91", "search 60"]]);
  });
});

describe("a process on a log with several writers", () => {
  test("reads wait for writes of other processes before the own last write", async () => {
    const { reach, waited } = shown(true);
    await reach("entities", position(60));
    await reach("relationships", position(70));
    expect(waited).toEqual(["entities 60", "relationships 70"]);
  });

  test("the reported position is that of the view", () => {
    expect(shown(true).positionOf("entities")).toBe(50);
  });
});
