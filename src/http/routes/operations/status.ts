/** The status of the service: a page for people, and the same as JSON. */
import { CatalogError } from "../../../core/errors.ts";
import type { Operations } from "../../../jobs/operations.ts";
import { type StatusShown, statusPage } from "../../docs/status-page.ts";
import { type Endpoint, valueResponse } from "../../schemas/endpoint.ts";
import { action } from "./operation-forms.ts";

/** Jobs and parked entities on the page. */
const shownMax = 20;

const getStatus: Endpoint = {
  ...action,
  name: "getStatus",
  body: { type: "object", properties: {} },
  handle: async (_, { operations }) => valueResponse(await operations.getStatus()),
};

const showStatus: Endpoint = {
  method: "GET",
  kind: "page",
  access: "watcher",
  path: "/status",
  name: "showStatus",
  responseType: "text/html",
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
