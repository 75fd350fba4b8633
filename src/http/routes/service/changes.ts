/** /changes: the change feed, as a stream or page by page. */
import { type Catalog, type ChangesFilter, changesMax } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position, START } from "../../../core/position.ts";
import { changeText, eventStream, jsonLines, type StreamForm } from "../../response/change-text.ts";
import { feedTexts } from "../../response/feed-texts.ts";
import type { Endpoint, StreamedBody } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

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

const getChanges: Endpoint = {
  method: "GET",
  kind: "page",
  group: "changes",
  path,
  name: "getChanges",
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
