/** Jobs: their progress, and a button that cancels them. */
import { useQueryClient } from "@tanstack/react-query";
import type { JsonObject } from "../../api/json.ts";
import { type Job, operate } from "../../api/operations.ts";
import { sentenceCase } from "../../api/type-names.ts";
import { EntityLink } from "../../components/entity-link.tsx";
import { Empty } from "../../components/states.tsx";
import { actionsHead, Table } from "../../components/table.tsx";
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

const badges = new Map<string, string>([
  ["done", "badge good-badge"],
  ["failed", "badge bad-badge"],
  ["cancelled", "badge warn-badge"],
]);

export function JobTable({ jobs }: { readonly jobs: readonly Job[] }) {
  const run = useOperation();
  if (jobs.length === 0) return <Empty title="No jobs yet" />;
  return (
    <Table label="Jobs" heads={["Job", "State", "Progress", "Started", "By", actionsHead]}>
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
    </Table>
  );
}

const requestText = ({ request = {} }: Job): string =>
  Object.entries(request)
    .filter(([, value]) => value !== false && !(Array.isArray(value) && value.length === 0))
    .map(
      ([name, value]) => `${sentenceCase(name.replace(/Millis$/, ""))}: ${valueText(name, value)}`,
    )
    .join(", ")
    .slice(0, 160);

function valueText(name: string, value: unknown): string {
  if (typeof value === "number" && name.endsWith("Millis")) return new Date(value).toLocaleString();
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A bar while the job runs; then what it did. */
function Progress({ job }: { readonly job: Job }) {
  const { total = 0, updated = 0, created = 0, deleted = 0, noops = 0 } = job.counts ?? {};
  const done = updated + created + deleted + noops;
  const number = (value: number): string => value.toLocaleString("en");
  const parts = [
    job.state === "running" && total > 0
      ? `${number(done)} of ${number(total)} rows`
      : `${number(done)} rows`,
    updated > 0 && `${number(updated)} written`,
    created > 0 && `${number(created)} created`,
    deleted > 0 && `${number(deleted)} deleted`,
    job.perSecond !== undefined && job.perSecond > 0 && `${number(Math.round(job.perSecond))}/s`,
  ].filter((part) => part !== false);
  return (
    <>
      {job.state === "running" && (
        <progress
          {...(total > 0 ? { max: total, value: done } : {})}
          aria-label={`Progress of ${job.kind}`}
        />
      )}
      <span className="muted">{parts.join(", ")}</span>
    </>
  );
}
