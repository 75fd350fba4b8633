/** The log: records as they are written, with filters and pause. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, memo, useEffect, useRef, useState } from "react";
import {
  type Change,
  type ChangesFilter,
  type FeedState,
  followChanges,
  positionBefore,
  readAllChanges,
  readChanges,
} from "../../api/changes.ts";
import { adminTokenStore, sessionStore } from "../../api/http.ts";
import { textAt } from "../../api/json.ts";
import { logPosition } from "../../api/metrics.ts";
import { listParked } from "../../api/operations.ts";
import { useMay } from "../../api/privileges.ts";
import { useStore } from "../../api/store.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { EntityLabel, EntityLink } from "../../components/entity-link.tsx";
import { Icon } from "../../components/icon.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { wordsOfChange } from "../../words/change-words.ts";
import { matchesUser } from "./log-filter.ts";
import "./log.css";

/** Records that the page begins with, and that it keeps. */
const firstCount = 200;
const shownMax = 1_000;
/** Records of a period that are read to find those that match. */
const readMax = 20_000;

const one = (value: UrlQuery[string]): string | undefined => listOf(value)[0] || undefined;

export default function LogPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const navigate = useNavigate();
  const filter: ChangesFilter = {
    urn: one(url.urn),
    entityType: one(url.type),
    aspect: one(url.aspect),
  };
  const actor = one(url.actor) ?? "";
  const run = one(url.run) ?? "";
  const since = one(url.since) ?? "";
  const key = JSON.stringify([filter, since]);
  const { data, error, refetch } = useQuery({
    queryKey: ["log", key],
    queryFn: ({ signal }) =>
      since === "" ? readLatest(filter, signal) : readSince(filter, since, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const [paused, setPaused] = useState(false);
  const { live, state } = useFeed(filter, key, data?.head, paused);
  const shown = [...live, ...(data?.changes ?? [])]
    .slice(0, shownMax)
    .filter((change) => matchesUser(change, actor, run));
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const search = Object.fromEntries(
      ["since", "type", "aspect", "urn", "actor", "run"].map((name) => [
        name,
        String(form.get(name) ?? "").trim(),
      ]),
    );
    void navigate({ to: "/ui/log", search });
  };
  return (
    <div className="page">
      <header className="page-head">
        <h1>Log</h1>
        <span className={state === "lost" ? "connection offline" : "connection"} role="status">
          {paused ? "Paused" : state === "open" ? "Live" : "Connecting"}
        </span>
        <button type="button" className="button" onClick={() => setPaused(!paused)}>
          <Icon name={paused ? "play" : "pause"} /> {paused ? "Follow" : "Pause"}
        </button>
      </header>
      <form className="log-filter" onSubmit={apply} key={JSON.stringify(url)}>
        <label className="field-label">
          Time
          <select className="field" name="since" defaultValue={since}>
            <option value="">Latest</option>
            {periods.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <FilterField name="type" label="Type" value={one(url.type)} example="dataset" />
        <FilterField name="aspect" label="Aspect" value={one(url.aspect)} example="ownership" />
        <FilterField name="urn" label="Urn" value={one(url.urn)} example="urn:li:…" />
        <FilterField name="actor" label="User" value={actor} example="imke" />
        <FilterField name="run" label="Run" value={run} example="nightly" />
        <button type="submit" className="button">
          Filter
        </button>
      </form>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={10} />}
      {data !== undefined && shown.length === 0 && (
        <Empty title="No records">New records appear here as they are written.</Empty>
      )}
      {shown.length > 0 && (
        <ol className="panel records">
          {shown.map((change) => (
            <RecordRow key={change.position} change={change} />
          ))}
        </ol>
      )}
    </div>
  );
}

const hourMs = 3_600_000;

/** Values of `since` in the URL, with their labels and lengths. */
const periods: readonly (readonly [string, string, number])[] = [
  ["hour", "Last hour", hourMs],
  ["day", "Last 24 hours", 24 * hourMs],
  ["week", "Last 7 days", 7 * 24 * hourMs],
  ["month", "Last 30 days", 30 * 24 * hourMs],
];

interface Latest {
  readonly changes: readonly Change[];
  readonly head: number;
}

/** The latest records that match: all of a urn, otherwise those of the end of the log. */
async function readLatest(filter: ChangesFilter, signal: AbortSignal): Promise<Latest> {
  const head = await logPosition(signal);
  const narrow = filter.urn !== undefined;
  const page = await readChanges(
    filter,
    narrow ? 0 : Math.max(0, head - firstCount),
    1_000,
    signal,
  );
  return { changes: page.changes.toReversed(), head: Math.max(head, page.position) };
}

/** Records of a period that match: the latest of them, if they are many. */
async function readSince(
  filter: ChangesFilter,
  since: string,
  signal: AbortSignal,
): Promise<Latest> {
  const head = await logPosition(signal);
  const length = periods.find(([value]) => value === since)?.[2] ?? hourMs;
  const first = await positionBefore(Date.now() - length, head, signal);
  const start = Math.max(first, head - readMax);
  const changes = await readAllChanges(filter, readMax, signal, start);
  return { changes: changes.toReversed().slice(0, shownMax), head };
}

/** Records since the page was read; while paused they wait. */
function useFeed(
  filter: ChangesFilter,
  key: string,
  after: number | undefined,
  paused: boolean,
): { readonly live: readonly Change[]; readonly state: FeedState } {
  const [live, setLive] = useState<readonly Change[]>([]);
  const [state, setState] = useState<FeedState>("connecting");
  const waiting = useRef<Change[]>([]);
  const pausedNow = useRef(paused);
  pausedNow.current = paused;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter.
  useEffect(() => {
    if (after === undefined) return;
    setLive([]);
    waiting.current = [];
    const stop = followChanges(
      filter,
      after,
      (change) => {
        waiting.current.unshift(change);
        if (waiting.current.length > shownMax) waiting.current.length = shownMax;
      },
      setState,
    );
    const timer = setInterval(() => {
      if (pausedNow.current || waiting.current.length === 0) return;
      const fresh = waiting.current;
      waiting.current = [];
      setLive((before) => [...fresh, ...before].slice(0, shownMax));
    }, 250);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [key, after]);
  return { live, state };
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly example: string;
}

const FilterField = ({ name, label, value, example }: FieldProps) => (
  <label className="field-label">
    {label}
    <input className="field" name={name} defaultValue={value ?? ""} placeholder={example} />
  </label>
);

/** Names the views that parked the record, for readers whose token or session allows operations. */
function ParkedNotice({ change }: { readonly change: Change }) {
  const token = useStore(adminTokenStore);
  const { authenticated } = useStore(sessionStore);
  const may = useMay();
  const { data } = useQuery({
    queryKey: ["operations", "parked"],
    queryFn: ({ signal }) => listParked(signal),
    retry: false,
    enabled: token !== "" || (authenticated && may("MANAGE_SYSTEM_OPERATIONS")),
  });
  const views = (data?.parked ?? [])
    .filter(({ urn, position }) => urn === change.entityUrn && position <= change.position)
    .map(({ view }) => view);
  if (views.length === 0) return null;
  return (
    <p className="notice">
      Parked in {views.join(", ")}: <Link to="/ui/views">Show the cause</Link>
    </p>
  );
}

/** New records do not render the ones below them again. */
const RecordRow = memo(function RecordRow({ change }: { readonly change: Change }) {
  const [open, setOpen] = useState(false);
  const run = textAt(change.systemMetadata, "runId");
  return (
    <li className="record">
      <div className="record-line">
        <button
          type="button"
          className="button quiet record-position num"
          aria-expanded={open}
          aria-label={`Record ${change.position}`}
          onClick={() => setOpen(!open)}
        >
          {change.position}
        </button>
        <EntityLabel urn={change.entityUrn} />
        <span className="badge">{change.aspectName}</span>
        <span className="clip muted record-words">
          {wordsOfChange(change).slice(0, 3).join("; ")}
        </span>
        <span className="clip small record-actor">
          <EntityLink urn={change.created?.actor ?? ""} />
        </span>
        <span className="small muted">
          <Time at={change.created?.time ?? 0} relative />
        </span>
      </div>
      {open && (
        <div className="record-detail">
          <div className="row">
            <Link
              to="/ui/entity/$urn/$tab"
              params={{ urn: change.entityUrn, tab: "history" }}
              className="button"
            >
              History of the entity
            </Link>
            <Link to="/ui/log" search={{ urn: change.entityUrn }} className="button">
              Records of the entity
            </Link>
            {run !== undefined && (
              <Link to="/ui/runs" search={{ run }} className="button">
                Run
              </Link>
            )}
            <CopyButton text={() => JSON.stringify(change, null, 2)} label="Copy" />
          </div>
          <ParkedNotice change={change} />
          <ScrollRegion label={`Record ${change.position} as JSON`} className="record-json">
            <pre>{JSON.stringify(change, null, 2)}</pre>
          </ScrollRegion>
        </div>
      )}
    </li>
  );
});
