/** /openapi/…/timeline: the changes of an entity, by category. */
import type { ChangeTransaction } from "../../../catalog/catalog.ts";
import { changeCategories } from "../../../core/timeline/semantic-facts.ts";
import { type Endpoint, objectWith, type Schema } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";

type Query = {
  readonly categories: readonly string[];
  readonly startTime?: number;
  readonly endTime?: number;
  readonly raw?: boolean;
};

const changeEvent: Schema = objectWith(
  ["category", "operation", "entityUrn", "semVerChange", "description"],
  {
    category: { enum: changeCategories },
    operation: {
      enum: ["ADD", "MODIFY", "REMOVE", "CREATE", "HARD_DELETE", "SOFT_DELETE", "REINSTATE"],
    },
    entityUrn: schemas.urn,
    modifier: { type: "string", description: "The urn or text that was added, changed or removed" },
    parameters: {
      type: "object",
      description:
        "The same by name. Of a field: `fieldPath`, `fieldUrn`, `nullable` and `modificationCategory` (`RENAME`, `TYPE_CHANGE` or `OTHER`); a renamed field has its old path",
    },
    auditStamp: schemas.auditStamp,
    semVerChange: { enum: ["NONE", "PATCH", "MINOR", "MAJOR"] },
    description: { type: "string", description: "In words" },
  },
);

const shown = ({ changeEvents, ...transaction }: ChangeTransaction) => {
  const { timestamp: time, actor } = transaction;
  const events = changeEvents.map(({ moved: _, ...event }) => ({
    ...event,
    auditStamp: { time, actor },
  }));
  return { ...transaction, changeEvents: events };
};

const timelineAt = (path: string, name: string): Endpoint => ({
  method: "GET",
  kind: "page",
  group: "changes",
  path,
  name,
  summary:
    "Read the history of an entity: tags, owners, terms and fields that were added or removed",
  about:
    "One transaction for each write since the entity's last hard delete, oldest first. `semVer` counts from the first write in these categories: a removed or retyped field is a major change, a changed text a patch. A renamed field is one `MODIFY` with `modificationCategory` `RENAME`. At most the newest 10,000 transactions, and about 16 MiB.",
  parameters: [
    { name: "urn", in: "path", type: "string", required: true, about: "The entity" },
    query.strings("categories", "Categories of changes: once, repeated, or separated by commas", {
      required: true,
      values: changeCategories,
    }),
    query.long(
      "startTime",
      "Start of the time range, in epoch milliseconds; no start when absent or -1",
    ),
    query.long("endTime", "End of the time range, in epoch milliseconds; now when absent or 0"),
    query.boolean("raw", "Include the difference of the values, as a JSON Patch"),
  ],
  response: {
    type: "array",
    items: objectWith(
      ["timestamp", "actor", "semVer", "semVerChange", "changeEvents", "versionStamp"],
      {
        timestamp: { type: "integer", description: "Time of the change, in epoch milliseconds" },
        actor: schemas.urn,
        semVer: { type: "string", description: "Version of the entity after the change" },
        semVerChange: { enum: ["NONE", "PATCH", "MINOR", "MAJOR"] },
        changeEvents: { type: "array", items: changeEvent },
        rawDiff: { type: "array", items: { type: "object" } },
        versionStamp: {
          type: "string",
          description:
            "Every aspect of the entity after the write, with the number of its value: `<aspect>:<n>;…`, in the form of `/entitiesVersionedV2`",
        },
      },
    ),
  },
  reads: "entities",
  errors: [
    { code: "malformed", when: "the urn does not parse, or a category is missing or unknown" },
    { code: "not_found", when: "the urn is of a type that the model does not have" },
  ],
  async handle({ path: { urn = "" }, parameters, signal }, { catalog }) {
    const { categories, startTime, endTime, raw } = parameters as Query;
    const transactions = await catalog.getTimeline({
      urn,
      raw,
      categories: categories.flatMap((one) => one.split(",")),
      startTime: startTime === undefined || startTime < 0 ? undefined : startTime,
      endTime: endTime === undefined || endTime <= 0 ? undefined : endTime,
      signal: signal?.(),
    });
    return { json: JSON.stringify(transactions.map(shown)), keep: false };
  },
});

export const timelineRoutes: readonly Endpoint[] = [
  timelineAt("/openapi/v2/timeline/v1/{urn}", "getTimeline"),
  timelineAt("/openapi/timeline/v1/{urn}", "getTimelineV1"),
];
