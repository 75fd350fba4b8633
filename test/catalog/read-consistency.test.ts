/** What an answer shows at least, with one writer of the log and with several. */
import { describe, expect, test } from "vitest";
import { createShownPositions } from "../../src/catalog/read-consistency.ts";
import { position } from "../../src/core/position.ts";

/** A process that has written up to 90, with views at 50. */
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

describe("a process that writes to the log alone", () => {
  test("shows all that it wrote, before the view has it", async () => {
    const { reach, positionOf, waited } = shown(false);
    await reach("entities", position(90));
    expect([positionOf("entities"), waited]).toEqual([90, []]);
  });

  test("waits for what it did not write, and for search", async () => {
    const { reach, positionOf, waited } = shown(false);
    await reach("entities", position(91));
    await reach("search", position(60));
    expect([positionOf("search"), waited]).toEqual([50, ["entities 91", "search 60"]]);
  });
});

describe("a process beside others that write to the log", () => {
  test("waits for what others wrote before its own last write", async () => {
    const { reach, waited } = shown(true);
    await reach("entities", position(60));
    await reach("relationships", position(70));
    expect(waited).toEqual(["entities 60", "relationships 70"]);
  });

  test("says that it shows what the view has, and no more", () => {
    expect(shown(true).positionOf("entities")).toBe(50);
  });
});
