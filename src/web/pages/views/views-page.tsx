/** Views and jobs: positions and health, live; start and cancel of jobs; parked records. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, adminTokenStore, sessionStore } from "../../api/http.ts";
import { conditionOf, readServiceState, type ServiceState } from "../../api/metrics.ts";
import { listDifferences, listJobs, listParked } from "../../api/operations.ts";
import { useStore } from "../../api/store.ts";
import { EntityLink } from "../../components/entity-link.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Empty, Failure, Loading, messageOf } from "../../components/states.tsx";
import { JobTable, StartJobs } from "./jobs.tsx";
import { ParkedTable } from "./parked.tsx";
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
      {!hasToken || isRefusal(jobs.error) ? (
        <TokenForm message={messageOf(jobs.error ?? "")} />
      ) : (
        jobs.error !== null && <Failure error={jobs.error} />
      )}
      {allowed && (
        <>
          <section className="panel">
            <header>
              <h2>Jobs</h2>
            </header>
            <StartJobs />
            <JobTable jobs={jobs.data.jobs} />
          </section>
          <ParkedPanel />
          <DifferencesPanel />
        </>
      )}
    </div>
  );
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 403);

/** Operations need a token also where the catalog needs none. */
function TokenForm({ message }: { readonly message: string }) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adminTokenStore.set(text.trim());
  };
  return (
    <form className="panel panel-body stack token-form" onSubmit={submit}>
      <h2>Jobs need a token</h2>
      <p className="muted">
        Operations require a token with their privilege, such as the admin token in the file{" "}
        <code>operator.token</code> of the data directory. This tab keeps it until it is closed.
      </p>
      {message !== "" && (
        <p className="bad" role="alert">
          {message}
        </p>
      )}
      <div className="row">
        <input
          className="field"
          type="password"
          aria-label="Token for operations"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button primary" disabled={text.trim() === ""}>
          Use the token
        </button>
      </div>
    </form>
  );
}

const megabytes = (bytes: number | undefined): string =>
  bytes === undefined
    ? ""
    : `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

const ViewTable = ({ state }: { readonly state: ServiceState }) => (
  <ScrollRegion label="Positions of log and views" className="panel table-scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">View</th>
          <th scope="col">State</th>
          <th scope="col" className="right">
            Position
          </th>
          <th scope="col" className="right">
            Behind
          </th>
          <th scope="col" className="right">
            Generation
          </th>
          <th scope="col" className="right">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
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
      </tbody>
    </table>
  </ScrollRegion>
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

function DifferencesPanel() {
  const { data, error } = useQuery({
    queryKey: ["operations", "differences"],
    queryFn: ({ signal }) => listDifferences(signal),
    refetchInterval: 2 * refreshMs,
  });
  return (
    <section className="panel">
      <header>
        <h2>Differences of the last verification</h2>
        <span className="muted num">{data?.total}</span>
      </header>
      {error !== null && <Failure error={error} />}
      {data?.differences.length === 0 && <Empty title="No differences" />}
      {data !== undefined && data.differences.length > 0 && (
        <ScrollRegion label="Differences">
          <table>
            <thead>
              <tr>
                <th scope="col">View</th>
                <th scope="col">Entity</th>
                <th scope="col">Kind</th>
                <th scope="col">The log says</th>
                <th scope="col">The view has</th>
              </tr>
            </thead>
            <tbody>
              {data.differences.map((one, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: differences have no identity.
                <tr key={n}>
                  <td>{one.view}</td>
                  <td>{one.urn !== undefined && <EntityLink urn={one.urn} />}</td>
                  <td>{one.kind}</td>
                  <td className="cause">{one.should}</td>
                  <td className="cause">{one.is}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </section>
  );
}
