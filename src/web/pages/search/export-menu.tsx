/** Exports the whole result of a search as CSV or JSON. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { summaryQuery } from "../../api/entities.ts";
import { type SearchRequest, search } from "../../api/search.ts";
import type { Summary } from "../../api/summary.ts";
import { csvOf } from "../../components/csv.ts";
import { download } from "../../components/download.ts";
import { Icon } from "../../components/icon.tsx";
import { announce, announceError } from "../../components/toasts.tsx";

/** Results of one export; the API has no page beyond. */
const exportedMax = 10_000;

export function ExportMenu({ request }: { readonly request: SearchRequest }) {
  const queries = useQueryClient();
  const [running, setRunning] = useState(false);
  const run = async (format: "csv" | "json") => {
    setRunning(true);
    try {
      const { hits, total } = await search({
        ...request,
        start: 0,
        count: exportedMax,
        facets: false,
      });
      const all = await Promise.all(hits.map(({ urn }) => queries.fetchQuery(summaryQuery(urn))));
      if (format === "json") {
        download("search.json", "application/json", JSON.stringify(all, null, 2));
      } else download("search.csv", "text/csv", csvOf(columns, all.map(rowOf)));
      announce(
        total > hits.length
          ? `Exported the first ${hits.length} of ${total} results`
          : `Exported ${hits.length} results`,
      );
    } catch (error) {
      announceError(error);
    } finally {
      setRunning(false);
    }
  };
  return (
    <span className="row tight">
      <button type="button" className="button" disabled={running} onClick={() => void run("csv")}>
        <Icon name="download" /> CSV
      </button>
      <button type="button" className="button" disabled={running} onClick={() => void run("json")}>
        <Icon name="download" /> JSON
      </button>
    </span>
  );
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
