/** /changes: the change feed, as a stream or page by page. */
import { type Catalog, type ChangesFilter, changesMax } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position, START } from "../../../core/position.ts";
import { changeText, eventStream, jsonLines, type StreamForm } from "../../response/change-text.ts";
import { feedTexts } from "../../response/feed-texts.ts";
import {
  complete,
  type Endpoint,
  type ErrorCase,
  type StreamedBody,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";

interface Parameters {
  readonly after?: number;
  readonly before?: number;
  readonly from?: string;
  readonly entityType?: readonly string[];
  readonly aspect?: readonly string[];
  readonly urn?: readonly string[];
  readonly previous?: boolean;
  readonly limit?: number;
  readonly "Last-Event-ID"?: string;
}

const path = "/changes";

/** Error of every endpoint that reads the log in order. */
export const unreadable: ErrorCase = {
  code: "unreadable",
  when: "the next record of the log is damaged, or of a later release; all records before it were returned",
};

const getChanges: Endpoint = {
  method: "GET",
  kind: "page",
  group: "changes",
  path,
  name: "getChanges",
  summary: "Follow the changes of the log, or read a page of them",
  about:
    "With `Accept: text/event-stream` (or `application/x-ndjson`, one JSON object per line) the response is a stream: changes are sent as they happen, each with its position, and a heartbeat every 15 seconds. A client that reconnects with the last position, as browsers do, neither misses nor repeats a change. Otherwise the response is a page: continue with its `position` as `after`, or as `before` where the newest come first. A change is a MetadataChangeLog, with values as JSON; writes that only confirm a value are omitted. A stream ends after an hour at the latest, and with the service; also before a record that cannot be read, with an event `fault` (a line with `code` and `message`).",
  parameters: [
    query.long(
      "after",
      "Return changes after this position, such as the `X-Annals-Position` of a write",
    ),
    query.long("before", "Of a page: return changes before this position, newest first"),
    query.string(
      "from",
      "`start` or `now`, instead of a position; `end` for a page of the latest changes, newest first. Without a position, pages begin at the start and streams now",
      { values: ["start", "now", "end"] },
    ),
    query.strings("entityType", "Only changes of entities of these types"),
    query.strings("aspect", "Only changes of these aspects"),
    query.strings("urn", "Only changes of these entities"),
    query.boolean(
      "previous",
      "`true` includes the previous value of each change: `previousAspectValue`",
    ),
    query.long(
      "limit",
      `Of a page: at most so many, 1 to ${changesMax}; 100 when absent. There may be fewer, also none, before the end`,
    ),
    {
      name: "Last-Event-ID",
      in: "header",
      type: "string",
      about: "The last position that the stream sent; takes precedence over `after` and `from`",
    },
  ],
  response: complete({
    changes: { type: "array", items: schemas.change },
    position: { type: "integer", description: "Position up to which the log was scanned" },
    end: {
      type: "boolean",
      description:
        "True if there are no later changes at present; newest first: no earlier changes",
    },
  }),
  errors: [
    { code: "malformed", when: "a parameter has the wrong type, or a urn does not parse" },
    { code: "not_found", when: "a urn is of a type that the model does not have" },
    {
      code: "invalid",
      when: "the log does not have the position yet, or an entity type or aspect is unknown",
    },
    { code: "rate_limited", when: "the maximum number of streams is open" },
    { code: "unavailable", when: "previous values are not available yet" },
    unreadable,
  ],
  async handle({ parameters, accept }, { catalog }) {
    const asked = parameters as Parameters;
    const { entityType: entityTypes, aspect: aspects, urn: urns, previous, limit } = asked;
    const filter = { entityTypes, aspects, urns, previous };
    const form = formOf(accept);
    const { before, after: from } = rangeOf(asked);
    if (form !== undefined) {
      if (before !== undefined) throw backwardStream();
      const after = from === "start" ? START : from === "now" ? undefined : from;
      return { stream: streamOf(catalog, form, { ...filter, after }) };
    }
    if (before !== undefined) {
      return pageOf(await catalog.readChanges({ ...filter, limit, before }));
    }
    const after = from === "now" ? (await catalog.health()).log : from;
    const query = { ...filter, limit, after: after === "start" ? START : after };
    return pageOf(await catalog.readChanges(query));
  },
};

/** Where a read begins: at most one of both. */
interface PositionRange {
  readonly after?: Position | "start" | "now";
  readonly before?: Position | "end";
}

const POSITION = /^\d{1,15}$/;

function rangeOf({ after, before, from, "Last-Event-ID": last }: Parameters): PositionRange {
  if (last !== undefined && last !== "") {
    return { after: readPosition("header Last-Event-ID", last) };
  }
  const [first, second] = Object.entries({ after, before, from }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (first !== undefined && second !== undefined) {
    throw new CatalogError("malformed", `both ${first} and ${second} are given`, {
      hint: "Send only one of them",
    });
  }
  if (after !== undefined) return { after: readPosition("after", String(after)) };
  if (before !== undefined) return { before: readPosition("before", String(before)) };
  if (from === "end") return { before: from };
  if (from === undefined) return {};
  if (from === "start" || from === "now") return { after: from };
  throw new CatalogError("malformed", `from is "${from.slice(0, 60)}"`, {
    hint: "Send start, now or end",
  });
}

const backwardStream = (): CatalogError =>
  new CatalogError("malformed", "a stream has no changes before a position", {
    hint: "Read pages: send no Accept header, or application/json",
  });

function readPosition(name: string, text: string): Position {
  if (POSITION.test(text)) return position(Number(text));
  throw new CatalogError("malformed", `${name} is "${text.slice(0, 60)}"`, {
    hint: "Send a position of the log: a whole number, 0 or more",
  });
}

/** Undefined for a page. */
const formOf = (accept = ""): StreamForm | undefined =>
  [eventStream, jsonLines].find(({ type }) => accept.includes(type.split(";", 1)[0] ?? type));

function pageOf({ changes, position: upTo, end }: Awaited<ReturnType<Catalog["readChanges"]>>) {
  const texts = changes.map(changeText).join(",");
  return { json: `{"changes":[${texts}],"position":${upTo},"end":${end}}`, keep: false };
}

const streamOf = (
  catalog: Catalog,
  form: StreamForm,
  query: ChangesFilter & { readonly after: Position | undefined },
): StreamedBody => ({
  type: form.type,
  open: async (signal) => feedTexts(await catalog.followChanges(query, signal), form, { signal }),
});

export const changesRoutes: readonly Endpoint[] = [getChanges];
