/** Everything that depends on an entity, or that it depends on, nearest first. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { summaryQuery } from "../../../api/entities.ts";
import { type LineageDirection, readLineage } from "../../../api/lineage.ts";
import { typeLabel } from "../../../api/type-names.ts";
import { typeOf } from "../../../api/urn.ts";
import { EntityLabel } from "../../../components/entity-link.tsx";
import { ExportButtons } from "../../../components/export-buttons.tsx";
import { Empty, Failure, Loading } from "../../../components/states.tsx";

interface ListProps {
  readonly urn: string;
  readonly since: number | undefined;
}

/** Rows in the page; the export has all. */
const rowsMax = 300;

export function ImpactList({ urn, since }: ListProps) {
  const queries = useQueryClient();
  const [direction, setDirection] = useState<LineageDirection>("DOWNSTREAM");
  const { data, error } = useQuery({
    queryKey: ["entity", urn, "impact", direction, since ?? 0],
    queryFn: ({ signal }) =>
      readLineage({ urn, direction, hops: 100, count: 10_000, since, signal }),
  });
  const nodes = data?.nodes ?? [];
  const readList = async () => {
    const items = await Promise.all(
      nodes.map(async ({ urn, degree }) => {
        const { type, name } = await queries.fetchQuery(summaryQuery(urn));
        return { urn, type, name, hops: degree };
      }),
    );
    const rows = items.map((item) => Object.values(item).map(String));
    return { items, columns: ["urn", "type", "name", "hops"], rows, total: data?.total ?? 0 };
  };
  return (
    <section className="panel">
      <header>
        <fieldset className="segmented">
          <legend className="hidden-text">Direction</legend>
          <button
            type="button"
            aria-pressed={direction === "DOWNSTREAM"}
            onClick={() => setDirection("DOWNSTREAM")}
          >
            Depends on this
          </button>
          <button
            type="button"
            aria-pressed={direction === "UPSTREAM"}
            onClick={() => setDirection("UPSTREAM")}
          >
            This depends on
          </button>
        </fieldset>
        <span className="muted num spread" aria-live="polite">
          {data !== undefined && `${data.total} entities`}
        </span>
        <ExportButtons name="impact" disabled={nodes.length === 0} read={readList} />
      </header>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={5} />}
      {data !== undefined && nodes.length === 0 && <Empty title="Nothing in this direction" />}
      <ul className="edge-list">
        {nodes.slice(0, rowsMax).map((node) => (
          <li key={node.urn}>
            <EntityLabel urn={node.urn} />
            <span className="muted small">{typeLabel(typeOf(node.urn))}</span>
            <span className="badge">
              {node.degree} {node.degree === 1 ? "hop" : "hops"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
