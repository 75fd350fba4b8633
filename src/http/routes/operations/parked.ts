/** Routes of parked entities. */
import type { ParkedEntity, ParkedQuery } from "../../../jobs/operations.ts";
import {
  type ApiResponse,
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
  unauthenticated,
} from "./operation-forms.ts";

const parkedSchema: Schema = complete({
  view: text("View that could not apply the record"),
  urn,
  position: {
    type: "integer",
    description: "Position of the record; for a value of the search view, the position of the view",
  },
  reason: text("The cause, which names the aspect in the search view"),
  time: {
    type: "integer",
    description: "Time at which the entity was parked, in epoch milliseconds",
  },
  waiting: {
    type: "integer",
    description: "Number of later records of the entity that wait, at most 1,000",
  },
});

const viewName = text("`aspects`, `timeseries`, `graph` or `search`");
const unknownView: ErrorCase = { code: "invalid", when: "the view does not exist" };

const listParked: Endpoint = {
  ...action,
  name: "listParked",
  summary: "List the parked entities: those with a record that a view could not apply",
  about:
    "A record that a view cannot apply is parked, and later ones of the same entity wait behind it, in that view alone. The search view parks single aspects: its document is built from the others. Everything else continues. In the order of the log.",
  body: {
    type: "object",
    properties: {
      view: viewName,
      ...pageForm("200"),
    },
  },
  response: pageSchema({
    parked: { type: "array", items: parkedSchema },
  }),
  errors: [unauthenticated, malformed, unknownView],
  async handle({ body }, { operations }) {
    const {
      view,
      start = 0,
      count: wanted = 20,
    } = body as {
      view?: string;
      start?: number;
      count?: number;
    };
    const page = { view, start, count: Math.min(wanted, parkedPageMax) };
    const { total, entities } = await operations.listParked(page);
    return valueResponse({ start, count: entities.length, total, parked: entities });
  },
};

const parkedPageMax = 200;

const oneParked = {
  body: complete({ view: viewName, urn }),
  response: valueSchema(
    objectWith(["parked"], {
      parked: flag("True if the entity is still parked"),
      entity: {
        ...parkedSchema,
        description: "Current entry; absent if the entity is no longer parked",
      },
    }),
  ),
  errors: [
    unauthenticated,
    malformed,
    unknownView,
    { code: "not_found", when: "the entity is not parked in this view" },
    { code: "unavailable", when: "the projector does not run; try again later" },
  ],
} as const satisfies Partial<Endpoint>;

const parkedResponse = (parked: ParkedEntity | undefined): ApiResponse =>
  valueResponse({ parked: parked !== undefined, ...(parked !== undefined && { entity: parked }) });

const retryParked: Endpoint = {
  ...action,
  ...oneParked,
  name: "retryParked",
  writes: true,
  summary: "Restore a parked entity in its view",
  about:
    "If the view can apply it now, it is no longer parked, and the view has all that waited behind it.",
  handle: async ({ body }, { operations }) =>
    parkedResponse(await operations.retryParked(body as ParkedQuery)),
};

const dropParked: Endpoint = {
  ...action,
  ...oneParked,
  name: "dropParked",
  writes: true,
  summary: "Permanently omit the records or aspects that could not be applied",
  about:
    "The view applies what waited behind the record. The search view omits the parked values of the entity; later values are in its document. The log keeps the record; the view omits it also after a rebuild.",
  handle: async ({ body, caller }, { operations }) =>
    parkedResponse(await operations.dropParked(body as ParkedQuery, caller)),
};

export const parkedRoutes: readonly Endpoint[] = [listParked, retryParked, dropParked];
