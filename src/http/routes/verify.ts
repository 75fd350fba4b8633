/** Routes of comparing views with the log. */
import type { DifferencesQuery, VerifyRequest } from "../../ops/operations.ts";
import {
  type Endpoint,
  type ErrorCase,
  type Schema,
  valueAnswer,
  valueReply,
} from "../endpoint.ts";
import { urn } from "../schemas.ts";
import {
  action,
  flag,
  malformed,
  pageForm,
  pageReply,
  text,
  tooManyJobs,
  unauthenticated,
} from "./operation-forms.ts";

const unverifiable: ErrorCase = {
  code: "invalid",
  when: "there is no such view",
};

const viewName = text("`aspects`, `timeseries`, `graph` or `search`");

const verify: Endpoint = {
  ...action,
  name: "verify",
  writes: true,
  summary: "Compare views with the log, entity by entity",
  about:
    "The answer is the id of the job. It looks at every row of each view, and of the log at what was written since the last time; what the log said before is remembered as sums over rows. With `full` all of the log is folded. With `quick` only entities are looked at that were written since or differed, and how many rows there are. A view that this cannot answer for is looked at wholly. With `repair` what differs is made anew from the log and looked at again: entity by entity, and a view as a whole where what is wrong is of no entity or it cannot be read; the job fails when something is left. Reading and writing go on.",
  body: {
    type: "object",
    properties: {
      views: { type: "array", items: viewName, description: "All when absent" },
      full: flag("Fold all of the log. False when absent"),
      quick: flag("Look at what was written since. False when absent; not with `full`"),
      repair: flag("Make what differs anew from the log. False when absent"),
      urns: { type: "array", items: urn, maxItems: 10_000, description: "Look at these as well" },
    },
  },
  reply: valueReply(text("The id of the job")),
  errors: [
    unauthenticated,
    malformed,
    unverifiable,
    { code: "conflict", when: "views are being verified already" },
    tooManyJobs,
  ],
  async handle({ body, caller }, { operations }) {
    const { text: id, position } = await operations.verifyViews(body as VerifyRequest, caller);
    return { ...valueAnswer(id), position };
  },
};

const place: Schema = { type: "integer", description: "Position of the log" };
const time: Schema = { type: "integer", description: "In epoch milliseconds" };

const differenceSchema: Schema = {
  type: "object",
  required: ["view", "urn", "aspect", "kind"],
  properties: {
    view: viewName,
    urn: { ...text("Empty where it is of the store and of no entity") },
    aspect: text("Empty where it is of the entity as a whole"),
    kind: { enum: ["missing", "unexpected", "different"] },
    there: text("What the view has, shortened; absent where it has nothing"),
    should: text("What the log says, shortened; absent where it says nothing"),
  },
};

const verificationSchema: Schema = {
  type: "object",
  required: ["view", "position", "rows", "time", "differences"],
  properties: {
    view: viewName,
    position: { ...place, description: "Up to here it was compared" },
    rows: { type: "integer", description: "How many rows it should have there" },
    time,
    full: {
      type: "object",
      description: "When all of the log was folded last",
      required: ["position", "time"],
      properties: { position: place, time },
    },
    whole: {
      type: "object",
      description: "When every row was looked at last",
      required: ["position", "time"],
      properties: { position: place, time },
    },
    differences: { type: "integer", description: "How many there are" },
  },
};

/** Differences in one answer. */
const pageMax = 1_000;

const listDifferences: Endpoint = {
  ...action,
  name: "listDifferences",
  summary: "List what the last verification of each view found",
  about:
    "Of each view the first 10,000 are kept; `total` counts all. A view without differences is what the log says, up to its `position`.",
  body: {
    type: "object",
    properties: {
      view: viewName,
      ...pageForm("1,000"),
    },
  },
  reply: pageReply({
    differences: { type: "array", items: differenceSchema },
    views: { type: "array", items: verificationSchema },
  }),
  errors: [unauthenticated, malformed, unverifiable],
  async handle({ body }, { operations }) {
    const asked = body as Partial<DifferencesQuery>;
    const { view, start = 0, count: wanted = 20 } = asked;
    const page = { view, start, count: Math.min(wanted, pageMax) };
    const { differences, ...told } = await operations.listDifferences(page);
    return valueAnswer({ start, count: differences.length, ...told, differences });
  },
};

export const verifyRoutes: readonly Endpoint[] = [verify, listDifferences];
