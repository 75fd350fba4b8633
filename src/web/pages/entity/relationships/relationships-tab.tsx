/** All edges of an entity by direction and type, with the aspect and path that state each of them. */
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { sentenceCase, typeLabel } from "../../../api/type-names.ts";
import { typeOf } from "../../../api/urn.ts";
import { EntityLabel } from "../../../components/entity-link.tsx";
import { Empty, Failure, Loading } from "../../../components/states.tsx";
import { type Direction, readEdges } from "./edges.ts";
import type { Statement } from "./statements.ts";

export default function RelationshipsTab({ urn }: { readonly urn: string }) {
  const [direction, setDirection] = useState<Direction>("OUTGOING");
  const queries = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: ["entity", urn, "edges", direction],
    queryFn: ({ pageParam, signal }) =>
      readEdges({ urn, direction, scrollId: pageParam, signal }, queries),
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
                  <Sources statements={edge.statements} />
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

/** Statements of one edge that are listed. */
const statementsMax = 3;

/** Links to the values of aspects that state an edge. */
const Sources = ({ statements }: { readonly statements: readonly Statement[] }) => (
  <span className="edge-sources">
    {statements.slice(0, statementsMax).map(({ urn, aspect, path }) => {
      const text = `${aspect}/${path.join("/")}`;
      return (
        <Link
          key={`${urn}${text}`}
          to="/ui/entity/$urn/$tab"
          params={{ urn, tab: "aspects" }}
          search={{ aspect, path: [...path] }}
          className="mono clip"
          title={`Stated by ${urn}: ${text}`}
        >
          {text}
        </Link>
      );
    })}
    {statements.length > statementsMax && (
      <span className="muted small num">and {statements.length - statementsMax} more</span>
    )}
  </span>
);
