/** The section on filters of the documentation page. */
import { prose } from "./docs-text.ts";

/** Description of each condition of core/query/filter.ts. */
export const conditions: Readonly<Record<string, string>> = {
  EQUAL: "is one of the values; the condition when none is named",
  IN: "the same",
  IEQUAL: "is one of the values, in any letter case",
  CONTAIN: "holds one of the values, in any letter case; numbers and times by their digits",
  START_WITH: "begins with one of the values, in any letter case",
  END_WITH: "ends with one of the values, in any letter case",
  GREATER_THAN: "is greater than the first value: as a number, as text, or true after false",
  GREATER_THAN_OR_EQUAL_TO: "is greater or equal",
  LESS_THAN: "is less",
  LESS_THAN_OR_EQUAL_TO: "is less or equal",
  EXISTS: "has a value; needs none",
  IS_NULL: "has no value; needs none",
};

const example = {
  or: [
    {
      and: [
        { field: "rowCount", condition: "GREATER_THAN", values: ["1000"] },
        {
          field: "partitionSpec.partition",
          condition: "EQUAL",
          values: ["FULL_TABLE"],
          negated: true,
        },
      ],
    },
  ],
};

export function renderFilters(): string {
  const rows = Object.entries(conditions).map(
    ([name, meaning]) => `<tr><td><code>${name}</code></td><td>${prose(meaning)}</td></tr>`,
  );
  return `<section id="filters"><h2>Filters</h2>
<p>${prose("A filter is any of `or`, each all of `and`. A criterion holds when any of its `values` fits any value of the field; `negated: true` turns it around. A field is a path: `userCounts.user`. The older forms, one `value` and a list `criteria`, count too.")}</p>
<pre>${JSON.stringify(example, null, 2).replaceAll('"', "&quot;")}</pre>
<table><thead><tr><th>Condition</th><th>The field</th></tr></thead><tbody>${rows.join("")}</tbody></table></section>`;
}
