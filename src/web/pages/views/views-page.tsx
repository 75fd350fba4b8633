/** Views and jobs: positions and health, live; start and cancel of jobs; parked records. */
import { useQuery } from "@tanstack/react-query";
import { adminTokenStore, sessionStore } from "../../api/http.ts";
import { conditionOf, readServiceState, type ServiceState } from "../../api/metrics.ts";
import { listJobs, listParked } from "../../api/operations.ts";
import { useStore } from "../../api/store.ts";
import { isDenied, OperationToken } from "../../components/operation-token.tsx";
import { Empty, Failure, Loading, messageOf } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { DifferencesPanel } from "./differences.tsx";
import { JobTable } from "./jobs.tsx";
import { ParkedTable } from "./parked.tsx";
import { StartJobs } from "./start-job.tsx";
import "./views.css";

const refreshMs = 2_000;

export default function ViewsPage() {
  const token = useStore(adminTokenStore);
  const session = useStore(sessionStore);
  const hasToken = token !== "" || session.authenticated;
  const state = useQuery({
    queryKey: ["service"],
    queryFn: ({ signal }) => readServiceState(signal),
    refetchInterval: refreshMs,
  });
  const jobs = useQuery({
    queryKey: ["operations", "jobs", token],
    queryFn: ({ signal }) => listJobs(signal),
    refetchInterval: (query) => (query.state.error === null ? refreshMs : false),
    retry: false,
    enabled: hasToken,
  });
  const allowed = jobs.data !== undefined;
  return (
    <div className="page stack">
      <header className="page-head">
        <h1>Views and jobs</h1>
        <p>Views are built from the log. They can be verified against it and rebuilt from it.</p>
      </header>
      {state.error !== null && <Failure error={state.error} retry={() => void state.refetch()} />}
      {state.data === undefined && state.error === null && <Loading lines={5} />}
      {state.data !== undefined && <ViewTable state={state.data} />}
      {!hasToken || isDenied(jobs.error) ? (
        <OperationToken title="Jobs need a token" message={messageOf(jobs.error ?? "")} />
      ) : (
        jobs.error !== null && <Failure error={jobs.error} />
      )}
      {allowed && (
        <>
          <section className="panel">
            <header>
              <h2>Jobs</h2>
              <StartJobs />
            </header>
            <JobTable jobs={jobs.data.jobs} />
          </section>
          <ParkedPanel />
          <DifferencesPanel />
        </>
      )}
    </div>
  );
}

const megabytes = (bytes: number | undefined): string =>
  bytes === undefined
    ? ""
    : `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

const ViewTable = ({ state }: { readonly state: ServiceState }) => (
  <Table
    panel
    label="Positions of log and views"
    heads={[
      "View",
      "State",
      { label: "Position", right: true },
      { label: "Behind", right: true },
      { label: "Generation", right: true },
      { label: "Size", right: true },
    ]}
  >
    <tr>
      <td>log</td>
      <td className={state.logFailing ? "bad" : "good"}>
        {state.logFailing ? "Failing" : "Accepts writes"}
      </td>
      <td className="right num">{state.logPosition.toLocaleString("en")}</td>
      <td />
      <td />
      <td className="right num">{megabytes(state.logBytes)}</td>
    </tr>
    {state.views.map((view) => {
      const { text, level } = conditionOf(view);
      return (
        <tr key={view.name}>
          <td>{view.name}</td>
          <td className={level}>{text}</td>
          <td className="right num">{view.position.toLocaleString("en")}</td>
          <td className="right num">{view.lag.toLocaleString("en")}</td>
          <td className="right num">{view.generation}</td>
          <td className="right num">{megabytes(view.bytes)}</td>
        </tr>
      );
    })}
  </Table>
);

function ParkedPanel() {
  const { data, error } = useQuery({
    queryKey: ["operations", "parked"],
    queryFn: ({ signal }) => listParked(signal),
    refetchInterval: refreshMs,
  });
  return (
    <section className="panel">
      <header>
        <h2>Parked records</h2>
        <span className="muted num">{data?.total}</span>
      </header>
      {error !== null && <Failure error={error} />}
      {data?.parked.length === 0 && (
        <Empty title="No parked records">Every view has applied every record.</Empty>
      )}
      {data !== undefined && data.parked.length > 0 && <ParkedTable parked={data.parked} />}
    </section>
  );
}
