/** Exports the whole result of a search as CSV or JSON. */
import { useQueryClient } from "@tanstack/react-query";
import { summaryQuery } from "../../api/entities.ts";
import { type SearchRequest, search } from "../../api/search.ts";
import type { Summary } from "../../api/summary.ts";
import { ExportButtons } from "../../components/export-buttons.tsx";

/** Results of one export; the API has no page beyond. */
const exportedMax = 10_000;

interface MenuProps {
  readonly request: SearchRequest;
  readonly disabled: boolean;
}

export function ExportMenu({ request, disabled }: MenuProps) {
  const queries = useQueryClient();
  const read = async () => {
    const whole = { ...request, start: 0, count: exportedMax, facets: false };
    const { hits, total } = await search(whole);
    const items = await Promise.all(hits.map(({ urn }) => queries.fetchQuery(summaryQuery(urn))));
    return { items, columns, rows: items.map(rowOf), total };
  };
  return <ExportButtons name="search" disabled={disabled} read={read} />;
}

const columns = [
  "urn",
  "type",
  "name",
  "description",
  "platform",
  "owners",
  "tags",
  "terms",
  "domain",
  "deprecated",
] as const;

const rowOf = (one: Summary): readonly string[] => [
  one.urn,
  one.type,
  one.name,
  one.description,
  one.platform ?? "",
  one.owners.map(({ urn }) => urn).join(" "),
  one.tags.join(" "),
  one.terms.join(" "),
  one.domain ?? "",
  String(one.deprecated),
];
