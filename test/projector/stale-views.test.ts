/** Which views of another model are kept until they are rebuilt, by their number of records. */
import { expect, test } from "vitest";
import { openViews, type StoresConfig } from "../../src/app/stores.ts";
import { viewRules } from "../../src/app/view-rules.ts";
import { readConfig } from "../../src/config/config.ts";
import { position } from "../../src/core/position.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const rules = viewRules(loadModel());

test.each([
  ["numbered positions, few records", { head: 19_999, records: 19_999 }, "emptied"],
  ["numbered positions, many records", { head: 20_000, records: 20_000 }, "kept"],
  ["byte offsets, few records", { head: 6_000_000, records: 19_000 }, "emptied"],
  ["byte offsets, many records", { head: 6_000_000, records: 21_000 }, "kept"],
])(
  "a view of another model is kept or emptied by its records: %s",
  async (_, { head, records }, outcome) => {
    using directory = temporaryDirectory();
    const origin = { id: "the log", head: position(head), records };
    const config: StoresConfig = { ...readConfig({ data: directory.path }, {}), rules, origin };
    const names = ["graph"] as const;
    for (const { sink } of await openViews(config, { names })) {
      await sink.apply([], origin.head);
      await sink.close();
    }
    const seen: string[] = [];
    const reopened = await openViews(
      { ...config, rules: { ...rules, fingerprint: "another model" } },
      { names, onStale: () => void seen.push("kept"), onEmptied: () => void seen.push("emptied") },
    );
    for (const { sink } of reopened) await sink.close();
    expect(seen).toEqual([outcome]);
  },
);
