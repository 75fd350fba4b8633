/** Runs: the list, the writes of a run, and its rollback with a preview. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { read } from "../../api/http.ts";
import { listAt, numberAt, textAt } from "../../api/json.ts";
import { useMay } from "../../api/privileges.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { EntityLabel } from "../../components/entity-link.tsx";
import { Icon } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { RollbackDialog } from "./rollback-dialog.tsx";

export default function RunsPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const run = listOf(url.run)[0];
  const page = Math.max(0, Number(listOf(url.page)[0] ?? "1") - 1 || 0);
  return run === undefined || run === "" ? (
    <RunList page={page} />
  ) : (
    <RunDetail key={run} run={run} />
  );
}

const pageSize = 50;

/** The run of writes that name none. */
const noRun = "no-run-id-provided";

const nameOfRun = (id: string): string => (id === noRun ? "Writes without a run" : id);

function RunList({ page }: { readonly page: number }) {
  const navigate = useNavigate();
  const setPage = (n: number) =>
    void navigate({ to: "/ui/runs", search: n === 0 ? {} : { page: String(n + 1) } });
  const { data, error, refetch } = useQuery({
    queryKey: ["runs", page],
    queryFn: ({ signal }) =>
      read<unknown>("/runs?action=list", {
        body: { pageOffset: page * pageSize, pageSize },
        signal,
      }),
  });
  const runs = listAt(data, "value");
  return (
    <div className="page">
      <header className="page-head">
        <h1>Runs</h1>
        <p>A run is a group of writes that a client names together, such as an ingestion.</p>
      </header>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={8} />}
      {data !== undefined && runs.length === 0 && <Empty title="No runs" />}
      {runs.length > 0 && (
        <Table panel label="Runs" heads={["Run", "Last write", { label: "Rows", right: true }]}>
          {runs.map((one) => {
            const id = textAt(one, "runId") ?? "";
            return (
              <tr key={id}>
                <td>
                  <Link to="/ui/runs" search={{ run: id }}>
                    {nameOfRun(id)}
                  </Link>
                </td>
                <td>
                  <Time at={numberAt(one, "timestamp") ?? 0} />
                </td>
                <td className="right num">{(numberAt(one, "rows") ?? 0).toLocaleString("en")}</td>
              </tr>
            );
          })}
        </Table>
      )}
      {(page > 0 || runs.length === pageSize) && (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={page === 0}
            onClick={() => setPage(page - 1)}
          >
            Previous
          </button>
          <button
            type="button"
            className="button"
            disabled={runs.length < pageSize}
            onClick={() => setPage(page + 1)}
          >
            Next
          </button>
        </div>
      )}
    </div>
  );
}

/** Rows of a run in the page. */
const rowsMax = 500;

function RunDetail({ run }: { readonly run: string }) {
  const [rolling, setRolling] = useState(false);
  const may = useMay();
  const { data, error, refetch } = useQuery({
    queryKey: ["runs", "describe", run],
    queryFn: ({ signal }) =>
      read<unknown>("/runs?action=describe", { body: { runId: run, count: rowsMax }, signal }),
  });
  const rows = listAt(data, "value");
  return (
    <div className="page">
      <header className="page-head">
        <h1 className="clip" title={run}>
          {nameOfRun(run)}
        </h1>
        <Link to="/ui/runs" className="button">
          All runs
        </Link>
        <Link to="/ui/log" search={{ run }} className="button">
          Records
        </Link>
        {may("DELETE_ENTITY", "MANAGE_SYSTEM_OPERATIONS") && (
          <button
            type="button"
            className="button danger"
            disabled={rows.length === 0 || run === noRun}
            onClick={() => setRolling(true)}
          >
            <Icon name="undo" /> Roll back
          </button>
        )}
      </header>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading lines={8} />}
      {data !== undefined && rows.length === 0 && (
        <Empty title="No writes">The run does not exist, or it was rolled back.</Empty>
      )}
      {rows.length > 0 && <RowTable rows={rows} />}
      {rows.length === rowsMax && <p className="muted">The first {rowsMax} rows are shown.</p>}
      {rolling && <RollbackDialog run={run} onClose={() => setRolling(false)} />}
    </div>
  );
}

const RowTable = ({ rows }: { readonly rows: readonly unknown[] }) => (
  <Table panel label="Rows of the run" heads={["Entity", "Aspect", "Version", "Time"]}>
    {rows.map((row, n) => {
      const urn = textAt(row, "urn") ?? "";
      const aspect = textAt(row, "aspectName") ?? "";
      const version = numberAt(row, "version") ?? 0;
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: events of a timeseries share their version.
        <tr key={`${urn} ${aspect} ${version} ${n}`}>
          <td>
            <EntityLabel urn={urn} />
          </td>
          <td className="mono">{aspect}</td>
          <td className="num">{version}</td>
          <td>
            <Time at={numberAt(row, "timestamp") ?? 0} />
          </td>
        </tr>
      );
    })}
  </Table>
);
