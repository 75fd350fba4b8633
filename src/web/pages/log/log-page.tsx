/** The log: records as they are written, with filters and pause. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import {
  type Change,
  type ChangesFilter,
  type FeedState,
  followChanges,
} from "../../api/changes.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { Icon } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { matchesUser } from "./log-filter.ts";
import { type LogRequest, periods, readOlder } from "./log-reads.ts";
import "./log.css";
import { RecordRow } from "./record-row.tsx";

/** New records that the page keeps. */
const liveMax = 1_000;

const one = (value: UrlQuery[string]): string | undefined => listOf(value)[0] || undefined;

export default function LogPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const navigate = useNavigate();
  const filter: ChangesFilter = {
    urn: one(url.urn),
    entityType: one(url.type),
    aspect: one(url.aspect),
  };
  const request: LogRequest = {
    filter,
    actor: one(url.actor) ?? "",
    run: one(url.run) ?? "",
    since: one(url.since) ?? "",
  };
  const { actor, run, since } = request;
  const filtered = [...Object.values(filter), actor, run, since].some(Boolean);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    {
      queryKey: ["log", request],
      queryFn: ({ pageParam, signal }) => readOlder(request, pageParam, signal),
      initialPageParam: undefined as number | undefined,
      getNextPageParam: (last) => (last.end ? undefined : last.position),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
    },
  );
  const [paused, setPaused] = useState(false);
  const head = data?.pages[0]?.head;
  const { live, state } = useFeed(filter, JSON.stringify(filter), head, paused);
  const shown = [
    ...live.filter((change) => matchesUser(change, actor, run)),
    ...(data?.pages.flatMap(({ changes }) => changes) ?? []),
  ];
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
          {paused
            ? "Paused"
            : state === "open"
              ? "Live"
              : state === "lost"
                ? "Reconnecting"
                : "Connecting"}
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
            {[...periods].map(([value, { label }]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <FilterField name="type" label="Type" value={one(url.type)} example="dataset" />
        <FilterField name="aspect" label="Aspect" value={one(url.aspect)} example="ownership" />
        <FilterField name="urn" label="Urn" value={one(url.urn)} example="urn:li:…" />
        <FilterField name="actor" label="User name or urn" value={actor} example="imke.sorland" />
        <FilterField name="run" label="Run" value={run} example="nightly" />
        <button type="submit" className="button">
          Filter
        </button>
      </form>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={10} />}
      {data !== undefined && shown.length === 0 && (
        <Empty title="No records">
          {filtered
            ? "No record matches the filter. New records that match appear here as they are written."
            : "New records appear here as they are written."}
          {actor !== "" && " The user filter compares user names and urns, not display names."}
        </Empty>
      )}
      {shown.length > 0 && (
        <ol className="panel records">
          {shown.map((change) => (
            <RecordRow key={change.position} change={change} />
          ))}
        </ol>
      )}
      {hasNextPage && (
        <button
          type="button"
          className="button older-records"
          disabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {isFetchingNextPage ? "Reading" : "Older records"}
        </button>
      )}
    </div>
  );
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
        if (waiting.current.length > liveMax) waiting.current.length = liveMax;
      },
      setState,
    );
    const timer = setInterval(() => {
      if (pausedNow.current || waiting.current.length === 0) return;
      const fresh = waiting.current;
      waiting.current = [];
      setLive((before) => [...fresh, ...before].slice(0, liveMax));
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
