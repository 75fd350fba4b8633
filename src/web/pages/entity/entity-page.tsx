/** The page of an entity of any type: header and tabs. The URL holds the tab and the as-of point. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Suspense, useEffect, useRef } from "react";
import { type Entity, entityQuery } from "../../api/entities.ts";
import { summaryOf } from "../../api/summary.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { AsOfControl } from "./as-of-control.tsx";
import { columnsOf } from "./column-rows.ts";
import "./entity.css";
import { EntityHeader } from "./entity-header.tsx";
import { lineageTypes } from "./lineage/lineage-types.ts";
import { useNow } from "./now.tsx";
import { hasQuality } from "./quality/timeseries-aspects.ts";
import {
  AspectsTab,
  ColumnsTab,
  DocumentationTab,
  HistoryTab,
  LineageTab,
  QualityTab,
  RelationshipsTab,
} from "./tab-pages.ts";

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly count?: number;
}

function tabsOf(entity: Entity, type: string): readonly Tab[] {
  const columns = columnsOf(entity.aspects).length;
  return [
    { id: "documentation", label: "Documentation" },
    ...(columns > 0 ? [{ id: "columns", label: "Columns", count: columns }] : []),
    ...(lineageTypes.includes(type) ? [{ id: "lineage", label: "Lineage" }] : []),
    { id: "relationships", label: "Relationships" },
    { id: "history", label: "History" },
    ...(hasQuality(type) ? [{ id: "quality", label: "Usage and quality" }] : []),
    { id: "aspects", label: "Aspects", count: entity.aspects.size },
  ];
}

export default function EntityPage() {
  const params = useParams({ strict: false });
  const urn = params.urn ?? "";
  const url = useSearch({ strict: false }) as UrlQuery;
  const asOf = listOf(url.asOf)[0];
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery({
    ...entityQuery(urn, asOf),
    placeholderData: (previous) => (previous?.urn === urn ? keepPreviousData(previous) : undefined),
  });
  const name = data === undefined ? urn : summaryOf(urn, data.aspects).name;
  useEffect(() => {
    document.title = `${name} · Annals`;
    return () => {
      document.title = "Annals";
    };
  }, [name]);
  if (error !== null && data === undefined) {
    return (
      <div className="page">
        <Failure error={error} retry={() => void refetch()} />
        {asOf !== undefined && <AsOfControl asOf={asOf} onChange={(next) => showAsOf(next)} />}
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
  function showAsOf(next: string | undefined): void {
    void navigate({ to: ".", search: { ...url, asOf: next } });
  }
  const summary = summaryOf(urn, data.aspects);
  const tabs = tabsOf(data, summary.type);
  const tab = tabs.find(({ id }) => id === params.tab)?.id ?? "documentation";
  return (
    <div className="page entity-page">
      <EntityHeader entity={data} summary={summary} asOf={asOf} onAsOf={showAsOf} />
      <TabBar urn={urn} tabs={tabs} current={tab} asOf={asOf} />
      <Suspense fallback={<Loading lines={8} />}>
        <TabBody tab={tab} entity={data} asOf={asOf} exists={summary.exists} />
      </Suspense>
    </div>
  );
}

interface BarProps {
  readonly urn: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly asOf: string | undefined;
}

function TabBar({ urn, tabs, current, asOf }: BarProps) {
  const bar = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab may be outside the bar.
  useEffect(() => {
    const tab = bar.current?.querySelector<HTMLElement>("[aria-current]");
    if (tab && bar.current) bar.current.scrollLeft = tab.offsetLeft - bar.current.offsetLeft - 32;
  }, [current]);
  return (
    <nav ref={bar} className="tabs" aria-label="Parts of the entity">
      {tabs.map(({ id, label, count }) => (
        <Link
          key={id}
          to="/ui/entity/$urn/$tab"
          params={{ urn, tab: id }}
          search={asOf === undefined ? {} : { asOf }}
          aria-current={id === current ? "page" : undefined}
          resetScroll={false}
        >
          {label}
          {count !== undefined && <span className="count num">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}

interface BodyProps {
  readonly tab: string;
  readonly entity: Entity;
  readonly asOf: string | undefined;
  readonly exists: boolean;
}

function TabBody({ tab, entity, asOf, exists }: BodyProps) {
  const past = asOf !== undefined;
  const readOnly = past || !exists;
  const { urn } = entity;
  const now = useNow(urn, asOf);
  const present = past ? now : entity;
  switch (tab) {
    case "columns":
      return <ColumnsTab key={urn} entity={entity} readOnly={readOnly} now={now} />;
    case "lineage":
      return (
        <>
          <PresentNotice shown={past} />
          <LineageTab key={urn} urn={urn} />
        </>
      );
    case "relationships":
      return (
        <>
          <PresentNotice shown={past} />
          <RelationshipsTab key={urn} urn={urn} />
        </>
      );
    case "history":
      return present === undefined ? (
        <Loading lines={8} />
      ) : (
        <HistoryTab
          key={urn}
          urn={urn}
          aspects={present.aspects}
          shownAt={past ? entity.position : undefined}
        />
      );
    case "quality":
      return <QualityTab key={urn} urn={urn} asOf={asOf} />;
    case "aspects":
      return <AspectsTab key={urn} entity={entity} asOf={asOf} now={now} />;
    default:
      return <DocumentationTab key={urn} entity={entity} readOnly={readOnly} now={now} />;
  }
}

const PresentNotice = ({ shown }: { readonly shown: boolean }) =>
  shown ? (
    <p className="notice">This tab shows the present: edges are not read as of a moment.</p>
  ) : null;
