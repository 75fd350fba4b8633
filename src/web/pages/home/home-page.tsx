/** The home page: counts, recent changes, what the user owns, and the health of the views. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useSummary } from "../../api/entities.ts";
import { search } from "../../api/search.ts";
import { typeLabels } from "../../api/type-names.ts";
import { EntityLabel } from "../../components/entity-link.tsx";
import { TypeGlyph } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { useActor } from "../../components/use-actor.ts";
import { EmptyCatalog } from "./empty-catalog.tsx";
import "./home.css";
import { RecentChanges } from "./recent-changes.tsx";
import { ViewHealth } from "./view-health.tsx";

export function HomePage() {
  const { data, error, refetch } = useQuery({
    queryKey: ["home"],
    queryFn: ({ signal }) => search({ query: "*", count: 0, facets: true, signal }),
    refetchInterval: 15_000,
  });
  if (error !== null && data === undefined) {
    return (
      <div className="page">
        <Failure error={error} retry={() => void refetch()} />
      </div>
    );
  }
  if (data === undefined) {
    return (
      <div className="page">
        <Loading lines={10} />
      </div>
    );
  }
  const valuesOf = (name: string) =>
    data.facets
      .find((facet) => facet.name === name)
      ?.values.filter(({ count }) => count > 0)
      .toSorted((a, b) => b.count - a.count) ?? [];
  const types = valuesOf("_entityType");
  // A new service has its root user, the built-in platforms and types only.
  if (types.every(({ value }) => value === "corpuser")) return <EmptyCatalog />;
  return (
    <div className="page home">
      <header className="page-head">
        <h1>Catalog</h1>
        <p className="num">{data.total.toLocaleString("en")} entities</p>
      </header>
      <ul className="type-counts" aria-label="Entities by type">
        {types.slice(0, 12).map(({ value, count }) => (
          <li key={value}>
            <Link to="/ui/search" search={{ f: `_entityType:${value}` }}>
              <TypeGlyph type={value} />
              <span className="num count">{count.toLocaleString("en")}</span>
              <span className="muted clip">{typeLabels(value)}</span>
            </Link>
          </li>
        ))}
      </ul>
      <div className="home-grid">
        <RecentChanges />
        <div className="stack">
          <Owned />
          <Platforms values={valuesOf("platform")} />
          <ViewHealth />
        </div>
      </div>
    </div>
  );
}

function Owned() {
  const actor = useActor();
  const { data } = useQuery({
    queryKey: ["owned", actor],
    queryFn: ({ signal }) =>
      search({ query: "*", filters: new Map([["owners", [actor]]]), count: 8, signal }),
    enabled: actor !== "",
  });
  return (
    <section className="panel">
      <header>
        <h2>What I own</h2>
        {data !== undefined && data.total > 0 && (
          <Link to="/ui/search" search={{ f: `owners:${actor}` }}>
            All {data.total}
          </Link>
        )}
      </header>
      {actor === "" ? (
        <Empty title="No acting user">
          Choose a user in the side bar to see what the user owns.
        </Empty>
      ) : data === undefined ? (
        <Loading lines={3} />
      ) : data.hits.length === 0 ? (
        <Empty title="You own nothing yet">Owners are added on the page of an entity.</Empty>
      ) : (
        <ul className="plain-list">
          {data.hits.map(({ urn }) => (
            <li key={urn}>
              <EntityLabel urn={urn} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface PlatformsProps {
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

function Platforms({ values }: PlatformsProps) {
  if (values.length === 0) return null;
  const largest = Math.max(...values.map(({ count }) => count));
  return (
    <section className="panel">
      <header>
        <h2>Platforms</h2>
      </header>
      <ul className="plain-list">
        {values.slice(0, 10).map(({ value, count }) => (
          <li key={value}>
            <Link to="/ui/search" search={{ f: `platform:${value}` }} className="bar-row">
              <PlatformName urn={value} />
              <span className="bar">
                <span style={{ width: `${Math.max(2, (count / largest) * 100)}%` }} />
              </span>
              <span className="num muted">{count.toLocaleString("en")}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

const PlatformName = ({ urn }: { readonly urn: string }) => (
  <span className="clip">{useSummary(urn).name}</span>
);
