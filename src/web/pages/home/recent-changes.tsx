/** The latest changes, followed live. Changes of one entity in a row are one line. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import {
  type Change,
  type FeedState,
  followChanges,
  readChangesBefore,
} from "../../api/changes.ts";
import { useNamed, useSummary } from "../../api/entities.ts";
import { logPosition } from "../../api/metrics.ts";
import { TypeGlyph } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { type Naming, wordsOfChange } from "../../words/change-words.ts";
import { groupsOf } from "./change-groups.ts";

/** Changes that the list shows at most. */
const shownMax = 60;

interface Latest {
  readonly changes: readonly Change[];
  /** Later changes are followed. */
  readonly head: number;
}

async function readLatest(signal: AbortSignal): Promise<Latest> {
  const head = await logPosition(signal);
  const { changes } = await readChangesBefore({}, undefined, shownMax, signal);
  return { changes, head: Math.max(head, changes[0]?.position ?? 0) };
}

export function RecentChanges() {
  const { data, error, refetch } = useQuery({
    queryKey: ["recent"],
    queryFn: ({ signal }) => readLatest(signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { live, state } = useLive(data?.head);
  const groups = groupsOf([...live, ...(data?.changes ?? [])].slice(0, shownMax)).slice(0, 14);
  return (
    <section className="panel">
      <header>
        <h2>Recent changes</h2>
        <span className={state === "lost" ? "connection offline small" : "connection small"}>
          {state === "open" ? "Live" : state === "lost" ? "Reconnecting" : "Connecting"}
        </span>
        <Link to="/ui/log" search={{ since: "week" }}>
          Last 7 days
        </Link>
      </header>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={8} />}
      {data !== undefined && groups.length === 0 && <Empty title="No changes yet" />}
      <ol className="changes">
        {groups.map((group) => (
          <ChangeLine key={group.position} changes={group.changes} />
        ))}
      </ol>
    </section>
  );
}

/** Changes since the list was read. They are shown a few times a second at most. */
function useLive(after: number | undefined): {
  readonly live: readonly Change[];
  readonly state: FeedState;
} {
  const [live, setLive] = useState<readonly Change[]>([]);
  const [state, setState] = useState<FeedState>("connecting");
  useEffect(() => {
    if (after === undefined) return;
    setLive([]);
    let arrived: Change[] = [];
    const stop = followChanges({}, after, (change) => arrived.unshift(change), setState);
    const timer = setInterval(() => {
      if (arrived.length === 0) return;
      const fresh = arrived;
      arrived = [];
      setLive((before) => [...fresh, ...before].slice(0, shownMax));
    }, 250);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [after]);
  return { live, state };
}

function ChangeLine({ changes }: { readonly changes: readonly Change[] }) {
  const [change] = changes;
  const { name, type } = useSummary(change?.entityUrn ?? "");
  const sentences = useNamed((nameOf) => sentencesOf(changes, nameOf));
  if (change === undefined) return null;
  return (
    <li className="change-line">
      <TypeGlyph type={type} />
      <div className="change-body">
        <Link
          to="/ui/entity/$urn/$tab"
          params={{ urn: change.entityUrn, tab: "history" }}
          className="change-name clip"
        >
          {name}
        </Link>
        <p className="muted clip" title={sentences.join("; ")}>
          {sentences.slice(0, 3).join("; ")}
          {sentences.length > 3 && ` and ${sentences.length - 3} more`}
        </p>
      </div>
      <div className="change-end small muted">
        <ActorName urn={change.created?.actor ?? ""} />
        <Time at={change.created?.time ?? 0} relative />
      </div>
    </li>
  );
}

/** Aspects that the service writes by default: they are named only if nothing else changed. */
const defaultAspects: ReadonlySet<string> = new Set([
  "browsePaths",
  "browsePathsV2",
  "dataPlatformInstance",
]);

function sentencesOf(changes: readonly Change[], nameOf: Naming): readonly string[] {
  const stated = changes.filter(({ aspectName }) => !defaultAspects.has(aspectName));
  const shown = stated.length > 0 ? stated : changes;
  const sentences = shown.toReversed().flatMap((change) => wordsOfChange(change, nameOf));
  return [...new Set(sentences)];
}

function ActorName({ urn }: { readonly urn: string }) {
  const { name } = useSummary(urn);
  return <span className="clip">{name}</span>;
}
