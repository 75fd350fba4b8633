/** Routes of comparing views with the log. */
import type { DifferencesQuery, VerifyRequest } from "../../../jobs/operations.ts";
import {
  complete,
  type Endpoint,
  type ErrorCase,
  objectWith,
  type Schema,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import { urn } from "../../schemas/schemas.ts";
import {
  action,
  flag,
  malformed,
  pageForm,
  pageSchema,
  text,
  tooManyJobs,
  unauthenticated,
} from "./operation-forms.ts";

const unverifiable: ErrorCase = {
  code: "invalid",
  when: "the view does not exist",
};

const viewName = text("`aspects`, `timeseries`, `graph` or `search`");

const verify: Endpoint = {
  ...action,
  name: "verify",
  writes: true,
  summary: "Compare views with the log",
  about:
    "Returns the id of the job. It folds the log for each entity and compares the result with all rows of each view, counts the rows, and checks the files of the views. With `since`, only entities with a later record are compared, and rows are not counted. `full`, `quick` and `urns` are accepted and ignored. With `repair`, entities that differ are restored from the log and verified again; a view is rebuilt if the damage belongs to no entity or the view cannot be read. The job fails if differences are left. Reads and writes continue. One verification runs at a time: the job waits for those before it.",
  body: {
    type: "object",
    properties: {
      views: { type: "array", items: viewName, description: "All when absent" },
      since: {
        type: "integer",
        minimum: 0,
        description: "Compare only entities with a record after this position of the log",
      },
      full: flag("Accepted and ignored"),
      quick: flag("Accepted and ignored"),
      repair: flag("Repair differences. False when absent"),
      urns: { type: "array", items: urn, maxItems: 10_000, description: "Accepted and ignored" },
    },
  },
  response: valueSchema(text("The id of the job")),
  errors: [unauthenticated, malformed, unverifiable, tooManyJobs],
  async handle({ body, caller }, { operations }) {
    const { text: id, position } = await operations.verifyViews(body as VerifyRequest, caller);
    return { ...valueResponse(id), position };
  },
};

const logPosition: Schema = { type: "integer", description: "Position of the log" };
const time: Schema = { type: "integer", description: "In epoch milliseconds" };

const differenceSchema: Schema = objectWith(["view", "urn", "aspect", "kind"], {
  view: viewName,
  urn: { ...text("Urn of the entity; empty for a fault of the store") },
  aspect: text("Aspect; empty for the entity as a whole"),
  kind: { enum: ["missing", "unexpected", "different"] },
  there: text("Value in the view, shortened; absent if it has none"),
  should: text("Value according to the log, shortened; absent if there is none"),
});

const verificationSchema: Schema = objectWith(["view", "position", "rows", "time", "differences"], {
  view: viewName,
  position: { ...logPosition, description: "Position up to which the view was compared" },
  rows: { type: "integer", description: "Number of rows that the view should have there" },
  time,
  full: complete({ position: logPosition, time }, "The last verification without `since`"),
  whole: complete({ position: logPosition, time }, "The same as `full`"),
  differences: { type: "integer", description: "Total number of items" },
});

/** Differences in one response. */
const pageMax = 1_000;

const listDifferences: Endpoint = {
  ...action,
  name: "listDifferences",
  summary: "List the differences that the last verification of each view found",
  about:
    "Of each view the first 10,000 are kept; `total` counts all. A view without differences is what the log says, up to its `position`.",
  body: {
    type: "object",
    properties: {
      view: viewName,
      ...pageForm("1,000"),
    },
  },
  response: pageSchema({
    differences: { type: "array", items: differenceSchema },
    views: { type: "array", items: verificationSchema },
  }),
  errors: [unauthenticated, malformed, unverifiable],
  async handle({ body }, { operations }) {
    const asked = body as Partial<DifferencesQuery>;
    const { view, start = 0, count: wanted = 20 } = asked;
    const page = { view, start, count: Math.min(wanted, pageMax) };
    const { differences, ...rest } = await operations.listDifferences(page);
    return valueResponse({ start, count: differences.length, ...rest, differences });
  },
};

export const verifyRoutes: readonly Endpoint[] = [verify, listDifferences];
