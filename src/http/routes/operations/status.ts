/** The status of the service: a page for people, and the same as JSON. */
import { CatalogError } from "../../../core/errors.ts";
import type { Operations } from "../../../jobs/operations.ts";
import { type StatusShown, statusPage } from "../../docs/status-page.ts";
import {
  type Endpoint,
  objectWith,
  type Schema,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import { action, malformed, text, unauthenticated } from "./operation-forms.ts";

/** Jobs and parked entities on the page. */
const shownMax = 20;

const number = (description: string): Schema => ({ type: "number", description });
const integer = (description: string): Schema => ({ type: "integer", description });

const viewSchema: Schema = objectWith(
  ["position", "lagRecords", "lagSeconds", "recordsPerSecond", "records", "stalled"],
  {
    position: integer("Position that the view has reached"),
    lagRecords: integer("Number of records that the view does not have yet"),
    lagSeconds: number("Time since the view last had every record of the log"),
    recordsPerSecond: number("Projected records per second, over the last seconds"),
    records: integer("Records that were projected since the start"),
    stalled: { type: "boolean", description: "True if the view lags and makes no progress" },
    parked: integer("Number of parked entities"),
    bytes: integer("Size on disk; absent for a view in a server"),
    generation: integer("Number of the generation in use; absent for a view in a server"),
    verifiedPosition: integer("Position of the last verification; absent before the first one"),
    differences: integer("Differences that the last verification found and that were not repaired"),
    verifiedAt: integer("Time of the last verification, in epoch milliseconds"),
    rebuild: {
      type: "object",
      description: "Progress of the rebuild; absent without one",
      properties: {
        position: integer("Position of the staging generation"),
        head: integer("Head of the log at that time"),
        recordsPerSecond: number("Average since the rebuild began"),
      },
    },
    emptied: integer("Number of times that the view was emptied and rebuilt since the start"),
    stale: {
      type: "boolean",
      description: "True if the view was built with another model and has to be rebuilt",
    },
    error: text("Reason why the view does not follow the log, or cannot be read"),
  },
);

const getStatus: Endpoint = {
  ...action,
  name: "getStatus",
  summary: "Status of the log and its views, with lag, rates and sizes",
  about: "The page `/status` shows the same.",
  body: { type: "object", properties: {} },
  response: valueSchema(
    objectWith(["ok", "version", "time", "uptimeSeconds", "log", "views", "jobsRunning"], {
      ok: {
        type: "boolean",
        description: "True if reads and writes work and every view makes progress",
      },
      version: text("Version of the service"),
      time: integer("Current time, in epoch milliseconds"),
      uptimeSeconds: number("Time since the start"),
      log: objectWith(["position", "recordsPerSecond", "records"], {
        position: integer("Position of the last record"),
        bytes: integer("Size on disk; absent for a log in a server"),
        recordsPerSecond: number("Appended records per second, over the last seconds"),
        records: integer("Records that were appended since the start"),
        error: text("Reason why the log cannot be read or written"),
      }),
      views: {
        type: "object",
        description: "Status by the name of the view",
        additionalProperties: viewSchema,
      },
      jobsRunning: integer("Number of running jobs"),
      jobsEnded: {
        type: "array",
        description: "Number of jobs that ended since the start, by kind and state",
        items: { type: "object" },
      },
    }),
  ),
  errors: [unauthenticated, malformed],
  handle: async (_, { operations }) => valueResponse(await operations.getStatus()),
};

const showStatus: Endpoint = {
  method: "GET",
  kind: "page",
  access: "watcher",
  path: "/status",
  name: "showStatus",
  summary: "Status of the log, its views and its jobs, as a page",
  about:
    "The page needs no script and refreshes itself. With authentication on, it asks for a token whose user may run the operations.",
  response: { type: "string" },
  responseType: "text/html",
  errors: [
    { code: "unauthenticated", when: "the request has no token" },
    { code: "forbidden", when: "the user may not run the operations" },
  ],
  async handle(_, { operations }) {
    const status = await operations.getStatus();
    return statusPage({ status, ...(await listed(operations)) });
  },
};

/** The page is also shown when the log cannot be read. */
async function listed(operations: Operations): Promise<Omit<StatusShown, "status">> {
  try {
    const page = { start: 0, count: shownMax };
    const { jobs, total: jobsTotal } = await operations.listJobs(page);
    const { entities: parked, total: parkedTotal } = await operations.listParked(page);
    return { jobs, jobsTotal, parked, parkedTotal };
  } catch (error) {
    const unread = error instanceof CatalogError ? error.message : String(error);
    return { jobs: [], jobsTotal: 0, parked: [], parkedTotal: 0, unread };
  }
}

export const statusRoutes: readonly Endpoint[] = [getStatus, showStatus];
