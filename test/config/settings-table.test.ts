import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { settingKeys, variableOf } from "../../src/config/settings.ts";
import { settingsMarkdown } from "../../src/config/settings-table.ts";

test("the table has a row for every setting", () => {
  const rows = settingsMarkdown().split("\n");
  expect(rows).toHaveLength(settingKeys.length + 2);
  for (const key of settingKeys) {
    expect(rows.filter((row) => row.includes(`\`${variableOf(key)}\``))).toHaveLength(1);
  }
});

test("docs/settings.md has the table (npm run -s annals -- settings --markdown)", () => {
  const page = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");
  const [, section] = /<!-- settings -->\n(.*)\n<!-- \/settings -->/s.exec(page) ?? [];
  expect(section?.trim()).toBe(settingsMarkdown());
});

test("pages name only variables with the prefix that are settings, because others stop the start", () => {
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  const pages = globSync(
    ["README.md", "{avro,deploy,docker,docs,projections,src}/**/*.{md,service,yaml}"],
    { cwd },
  );
  expect(pages.length).toBeGreaterThan(5);
  const known = new Set(settingKeys.map(variableOf));
  const named = pages.flatMap((page) =>
    (readFileSync(`${cwd}${page}`, "utf8").match(/\bANNALS_[A-Z_]*[A-Z]\b/g) ?? []).map(
      (variable) => ({ page, variable }),
    ),
  );
  expect(named.filter(({ variable }) => !known.has(variable))).toEqual([]);
});
