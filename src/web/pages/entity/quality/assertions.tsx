/** The assertions on an entity: their state, and their latest runs. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type JsonObject, numberAt, textAt } from "../../../api/json.ts";
import { sentenceCase } from "../../../api/type-names.ts";
import { EntityLink } from "../../../components/entity-link.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../../components/states.tsx";
import { Table } from "../../../components/table.tsx";
import { Time } from "../../../components/time.tsx";
import { type Assessment, readAssessments, readEvents, timeOf } from "./events.ts";
import { type RunState, stateOf, summaryOfRuns, titleOfAssertion } from "./results.ts";

interface AssertionsProps {
  readonly urn: string;
  readonly asOf: string | undefined;
}

/** Assertions that are listed at first, and how many more each time. */
const step = 25;

export function Assertions({ urn, asOf }: AssertionsProps) {
  const [limit, setLimit] = useState(step);
  const { data, error } = useQuery({
    queryKey: ["entity", urn, "assertions"],
    queryFn: () => readAssessments(urn, "Asserts", "assertionInfo"),
  });
  return (
    <section className="panel">
      <header>
        <h2>Assertions</h2>
        {data !== undefined && <span className="muted num">{data.length}</span>}
      </header>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={3} />}
      {data?.length === 0 && <Empty title="No assertions" />}
      <ul>
        {(data ?? []).slice(0, limit).map((assertion) => (
          <AssertionRow key={assertion.urn} assertion={assertion} asOf={asOf} />
        ))}
      </ul>
      {(data?.length ?? 0) > limit && (
        <p className="assessment">
          <button type="button" className="button" onClick={() => setLimit(limit + step)}>
            More
          </button>
        </p>
      )}
    </section>
  );
}

/** Runs that are read, and runs that the strip shows. */
const runsMax = 100;
const stripMax = 30;

interface RowProps {
  readonly assertion: Assessment;
  readonly asOf: string | undefined;
}

function AssertionRow({ assertion, asOf }: RowProps) {
  const { urn, aspects } = assertion;
  const [open, setOpen] = useState(false);
  const info = aspects.get("assertionInfo")?.value;
  const { data: runs = [], isPending } = useQuery({
    queryKey: ["entity", urn, "series", "assertionRunEvent", asOf ?? ""],
    queryFn: () => readEvents({ urn, aspect: "assertionRunEvent", asOf, limit: runsMax }),
  });
  const last = runs.at(-1);
  const title = titleOfAssertion(info, urn);
  return (
    <li className="assessment">
      <div className="assessment-head">
        <StateBadge state={isPending ? undefined : stateOf(last)} />
        <button
          type="button"
          className="assessment-title"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Icon name="chevron" />
          <span>{title}</span>
        </button>
        <RunStrip runs={runs.slice(-stripMax)} />
        <span className="assessment-time small muted">
          {last !== undefined && <Time at={timeOf(last)} />}
        </span>
      </div>
      {open && (
        <div className="assessment-body">
          <p className="small muted">
            {sentenceCase(textAt(info, "type") ?? "assertion")} · <EntityLink urn={urn} />
          </p>
          {runs.length === 0 ? (
            <p className="muted">No runs</p>
          ) : (
            <RunTable label={`Runs of ${title}`} runs={runs.toReversed().slice(0, 20)} />
          )}
        </div>
      )}
    </li>
  );
}

/** Words for the state of an assertion and for the result of a run, and the kind of badge. */
const labels: Readonly<Record<RunState, readonly [state: string, result: string, kind: string]>> = {
  passed: ["Passing", "Passed", "good-badge"],
  failed: ["Failing", "Failed", "bad-badge"],
  error: ["Error", "Error", "warn-badge"],
  unknown: ["No result", "No result", ""],
};

function StateBadge({ state }: { readonly state: RunState | undefined }) {
  const [label, , kind] = state === undefined ? ["", "", ""] : labels[state];
  return <span className={`badge state-badge ${kind}`}>{label}</span>;
}

const ResultBadge = ({ state }: { readonly state: RunState }) => (
  <span className={`badge ${labels[state][2]}`}>{labels[state][1]}</span>
);

/** One bar for each run, oldest first. */
const RunStrip = ({ runs }: { readonly runs: readonly JsonObject[] }) =>
  runs.length === 0 ? null : (
    <span className="run-strip" role="img" aria-label={summaryOfRuns(runs)}>
      {runs.map((run, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity of their own.
        <span key={n} className={`run ${stateOf(run)}`} title={timeText(run)} />
      ))}
    </span>
  );

const timeText = (run: JsonObject): string =>
  `${labels[stateOf(run)][1]}, ${new Date(timeOf(run)).toLocaleString()}`;

const counts = ["rowCount", "missingCount", "unexpectedCount", "actualAggValue"] as const;

interface RunTableProps {
  readonly label: string;
  readonly runs: readonly JsonObject[];
}

function RunTable({ label, runs }: RunTableProps) {
  const shown = counts.filter((name) =>
    runs.some((run) => numberAt(run, "result", name) !== undefined),
  );
  return (
    <Table
      label={label}
      heads={[
        "Time",
        "Result",
        ...shown.map((name) => ({ label: sentenceCase(name), right: true })),
        "Run",
      ]}
    >
      {runs.map((run, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity of their own.
        <tr key={n}>
          <td className="nowrap">
            <Time at={timeOf(run)} />
          </td>
          <td>
            <ResultBadge state={stateOf(run)} />
          </td>
          {shown.map((name) => (
            <td key={name} className="num right">
              {numberAt(run, "result", name)?.toLocaleString("en")}
            </td>
          ))}
          <td className="mono">
            <span className="cell-text">{textAt(run, "runId")}</span>
          </td>
        </tr>
      ))}
    </Table>
  );
}
