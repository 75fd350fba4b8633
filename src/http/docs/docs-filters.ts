/** The section on filters of the documentation page. */
import { prose } from "./docs-text.ts";
import texts from "./texts.json" with { type: "json" };

/** Description of each condition of core/query/filter.ts. */
export const conditions: Readonly<Record<string, string>> = texts.conditions;

export function renderFilters(): string {
  const rows = Object.entries(conditions).map(
    ([name, meaning]) => `<tr><td><code>${name}</code></td><td>${prose(meaning)}</td></tr>`,
  );
  return `<section id="filters"><h2>Filters</h2>
<p>${prose("A filter is any of `or`, each all of `and`. A criterion holds when any of its `values` fits any value of the field; `negated: true` turns it around. A field is a path: `userCounts.user`. The older forms, one `value` and a list `criteria`, count too.")}</p>
<pre>${JSON.stringify(texts.filter, null, 2).replaceAll('"', "&quot;")}</pre>
<table><thead><tr><th>Condition</th><th>The field</th></tr></thead><tbody>${rows.join("")}</tbody></table></section>`;
}
