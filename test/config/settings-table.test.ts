import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { settingKeys, variableOf } from "../../src/config/settings.ts";
import { settingsMarkdown, settingsSection } from "../../src/config/settings-table.ts";

test("the table has a row for every setting", () => {
  const rows = settingsMarkdown().split("\n");
  expect(rows).toHaveLength(settingKeys.length + 2);
  for (const key of settingKeys) {
    expect(rows.filter((row) => row.includes(`\`${variableOf(key)}\``))).toHaveLength(1);
  }
});

test("a document's table is what stands between its markers", () => {
  expect(settingsSection("a\n<!-- settings -->\n| x |\n<!-- /settings -->\nb")).toBe("| x |");
  expect(settingsSection("a\n<!-- settings -->\n| x |\n")).toBeUndefined();
});

test("the README holds the table (npm run -s annals -- settings --markdown)", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  expect(settingsSection(readme)).toBe(settingsMarkdown());
});
