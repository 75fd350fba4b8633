/** All edges of an entity, by direction and type. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../api/http.ts";
import { at, listAt, textAt } from "../../api/json.ts";
import { sentenceCase, typeLabel } from "../../api/type-names.ts";
import { typeOf } from "../../api/urn.ts";
import { EntityLabel } from "../../components/entity-link.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";

type Direction = "OUTGOING" | "INCOMING";

interface Edge {
  readonly type: string;
  readonly urn: string;
}

async function readEdges(urn: string, direction: Direction, scrollId: string, signal: AbortSignal) {
  const query = new URLSearchParams({ direction, count: "100" });
  if (scrollId !== "") query.set("scrollId", scrollId);
  const path = `/openapi/v3/relationship/${typeOf(urn)}/${encodeURIComponent(urn)}?${query}`;
  const value = await read<unknown>(path, { signal });
  const end = direction === "OUTGOING" ? "destination" : "source";
  return {
    next: textAt(value, "scrollId") ?? "",
    edges: listAt(value, "results").map(
      (one): Edge => ({
        type: textAt(one, "relationshipType") ?? "",
        urn: textAt(at(one, end), "urn") ?? "",
      }),
    ),
  };
}

export default function RelationshipsTab({ urn }: { readonly urn: string }) {
  const [direction, setDirection] = useState<Direction>("OUTGOING");
  const query = useInfiniteQuery({
    queryKey: ["entity", urn, "edges", direction],
    queryFn: ({ pageParam, signal }) => readEdges(urn, direction, pageParam, signal),
    initialPageParam: "",
    getNextPageParam: (page) => (page.next === "" ? undefined : page.next),
  });
  const edges = query.data?.pages.flatMap((page) => page.edges) ?? [];
  const types = [...new Set(edges.map(({ type }) => type))].toSorted();
  return (
    <div className="stack">
      <fieldset className="segmented">
        <legend className="hidden-text">Direction</legend>
        <DirectionButton value="OUTGOING" current={direction} onSelect={setDirection} />
        <DirectionButton value="INCOMING" current={direction} onSelect={setDirection} />
      </fieldset>
      {query.error !== null && <Failure error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={6} />}
      {query.data !== undefined && edges.length === 0 && (
        <Empty title="No relationships in this direction" />
      )}
      {types.map((type) => {
        const members = edges.filter((edge) => edge.type === type);
        return (
          <section key={type} className="panel">
            <header>
              <h2>{sentenceCase(type)}</h2>
              <span className="muted num">{members.length}</span>
            </header>
            <ul className="edge-list">
              {members.map((edge, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an edge may be stated twice.
                <li key={`${edge.urn}${n}`}>
                  <EntityLabel urn={edge.urn} />
                  <span className="muted small">{typeLabel(typeOf(edge.urn))}</span>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {query.hasNextPage && (
        <button type="button" className="button" onClick={() => void query.fetchNextPage()}>
          More
        </button>
      )}
    </div>
  );
}

interface ButtonProps {
  readonly value: Direction;
  readonly current: Direction;
  readonly onSelect: (direction: Direction) => void;
}

const DirectionButton = ({ value, current, onSelect }: ButtonProps) => (
  <button type="button" aria-pressed={value === current} onClick={() => onSelect(value)}>
    {value === "OUTGOING" ? "From this entity" : "To this entity"}
  </button>
);
