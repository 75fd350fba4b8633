/** How the service is: a page for people, and the same for programs. */
import { CatalogError } from "../../../core/errors.ts";
import type { Operations } from "../../../jobs/operations.ts";
import { type StatusShown, statusPage } from "../../docs/status-page.ts";
import { type Endpoint, type Schema, valueAnswer, valueReply } from "../../schemas/endpoint.ts";
import { action, malformed, text, unauthenticated } from "./operation-forms.ts";

/** Of jobs and of parked entities. */
const shownMax = 20;

const number = (description: string): Schema => ({ type: "number", description });
const integer = (description: string): Schema => ({ type: "integer", description });

const viewSchema: Schema = {
  type: "object",
  required: ["position", "lagRecords", "lagSeconds", "recordsPerSecond", "records", "stalled"],
  properties: {
    position: integer("Position that it has reached"),
    lagRecords: integer("How many records it lacks"),
    lagSeconds: number("For how long it has lacked what the log has"),
    recordsPerSecond: number("Over the last seconds"),
    records: integer("That it was brought since the process began"),
    stalled: { type: "boolean", description: "It stands still behind the log" },
    parked: integer("Entities that it passes over"),
    bytes: integer("On disk; absent where a server keeps it"),
    generation: integer("Its generation; likewise"),
    verifiedPosition: integer("Up to where it was compared with the log; absent: never"),
    differences: integer("What was found then and is not mended"),
    verifiedAt: integer("When that was; in epoch milliseconds"),
    rebuild: {
      type: "object",
      description: "Progress of its staging generation; absent without a rebuild",
      properties: {
        position: integer("Position that it has reached"),
        head: integer("Head of the log at that time"),
        recordsPerSecond: number("Since it began"),
      },
    },
    emptied: integer("Number of rebuilds from the start of the log since the process began"),
    stale: { type: "boolean", description: "It is of another model, and waits to be rebuilt" },
    error: text("Why it does not follow or cannot be read"),
  },
};

const getStatus: Endpoint = {
  ...action,
  name: "getStatus",
  summary: "How the log and its views are, with lag, rates and sizes",
  about: "`/status` shows the same to people.",
  body: { type: "object", properties: {} },
  reply: valueReply({
    type: "object",
    required: ["ok", "version", "time", "uptimeSeconds", "log", "views", "jobsRunning"],
    properties: {
      ok: { type: "boolean", description: "Reads and writes work, and every view makes progress" },
      version: text("Of the service"),
      time: integer("In epoch milliseconds"),
      uptimeSeconds: number("Since the process began"),
      log: {
        type: "object",
        required: ["position", "recordsPerSecond", "records"],
        properties: {
          position: integer("Of its last record"),
          bytes: integer("On disk; absent where a server keeps it"),
          recordsPerSecond: number("Over the last seconds"),
          records: integer("That came since the process began"),
          error: text("Why it cannot be read or written"),
        },
      },
      views: { type: "object", description: "By name", additionalProperties: viewSchema },
      jobsRunning: integer("Jobs that are running"),
      jobsEnded: {
        type: "array",
        description: "How many jobs ended since the process began, by kind and state",
        items: { type: "object" },
      },
    },
  }),
  errors: [unauthenticated, malformed],
  handle: async (_, { operations }) => valueAnswer(await operations.getStatus()),
};

const showStatus: Endpoint = {
  method: "GET",
  kind: "page",
  access: "watcher",
  path: "/status",
  name: "showStatus",
  summary: "How the log, its views and its jobs are, as a page for people",
  about:
    "Needs no script and refreshes itself. Where tokens are asked for, it asks for one that may run the operations.",
  reply: { type: "string" },
  replyType: "text/html",
  errors: [
    { code: "unauthenticated", when: "a token is needed and not shown" },
    { code: "forbidden", when: "its user may not run the operations" },
  ],
  async handle(_, { operations }) {
    const status = await operations.getStatus();
    return statusPage({ status, ...(await listed(operations)) });
  },
};

/** The page is for the worst of days: it is shown when the log cannot be read, too. */
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
