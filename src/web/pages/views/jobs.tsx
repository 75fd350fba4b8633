/** Jobs: their progress, and buttons that start and cancel them. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { JsonObject } from "../../api/json.ts";
import { type Job, operate } from "../../api/operations.ts";
import { sentenceCase } from "../../api/type-names.ts";
import { EntityLink } from "../../components/entity-link.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Empty } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { announce, announceError } from "../../components/toasts.tsx";

/** Runs an operation, announces the result and reads all operations again. */
export function useOperation(): (action: string, body: JsonObject, done: string) => Promise<void> {
  const queries = useQueryClient();
  return async (action, body, done) => {
    try {
      await operate(action, body);
      announce(done);
    } catch (error) {
      announceError(error);
    } finally {
      await queries.invalidateQueries({ queryKey: ["operations"] });
    }
  };
}

const views = ["aspects", "timeseries", "graph", "search"] as const;

export function StartJobs() {
  const run = useOperation();
  const [view, setView] = useState("");
  const [repair, setRepair] = useState(false);
  const chosen = view === "" ? {} : { views: [view] };
  return (
    <div className="row start-jobs">
      <label className="row tight">
        <span className="muted">View</span>
        <select className="field" value={view} onChange={(event) => setView(event.target.value)}>
          <option value="">All</option>
          {views.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="button"
        onClick={() => void run("verify", { ...chosen, repair }, "Verification started")}
      >
        Verify
      </button>
      <label className="row tight">
        <input type="checkbox" checked={repair} onChange={() => setRepair(!repair)} />
        and repair
      </label>
      <button
        type="button"
        className="button"
        onClick={() => void run("rebuildViews", chosen, "Rebuild started")}
      >
        Rebuild
      </button>
      <button
        type="button"
        className="button"
        onClick={() =>
          void run(
            "restoreIndices",
            { urnLike: "urn:li:%", limit: 0, batchSize: 1_000_000 },
            "Restore started",
          )
        }
      >
        Restore all entities
      </button>
    </div>
  );
}

const badges = new Map<string, string>([
  ["done", "badge good-badge"],
  ["failed", "badge bad-badge"],
  ["cancelled", "badge warn-badge"],
]);

export function JobTable({ jobs }: { readonly jobs: readonly Job[] }) {
  const run = useOperation();
  if (jobs.length === 0) return <Empty title="No jobs yet" />;
  return (
    <ScrollRegion label="Jobs">
      <table>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">State</th>
            <th scope="col">Progress</th>
            <th scope="col">Started</th>
            <th scope="col">By</th>
            <th scope="col">
              <span className="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <td>
                {sentenceCase(job.kind)}
                <span className="muted small block">{requestText(job)}</span>
              </td>
              <td>
                <span className={badges.get(job.state) ?? "badge"}>{job.state}</span>
                {job.error !== undefined && <span className="bad small block">{job.error}</span>}
              </td>
              <td className="num">
                <Progress job={job} />
              </td>
              <td>
                <Time at={job.started} relative />
              </td>
              <td>
                <EntityLink urn={job.actor} />
              </td>
              <td className="right">
                {job.state === "running" && (
                  <button
                    type="button"
                    className="button danger"
                    onClick={() => void run("cancelJob", { id: job.id }, "Cancelled")}
                  >
                    Cancel
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

const requestText = ({ request = {} }: Job): string =>
  Object.entries(request)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ")
    .slice(0, 160);

function Progress({ job }: { readonly job: Job }) {
  const { total = 0, updated = 0 } = job.counts ?? {};
  const rate =
    job.perSecond === undefined ? "" : `, ${Math.round(job.perSecond).toLocaleString("en")}/s`;
  if (total === 0) return <span className="muted">{rate.slice(2)}</span>;
  return (
    <span>
      {job.state === "running" && (
        <progress max={total} value={updated} aria-label={`Progress of ${job.kind}`} />
      )}
      <span className="muted">
        {updated.toLocaleString("en")} of {total.toLocaleString("en")}
        {rate}
      </span>
    </span>
  );
}
