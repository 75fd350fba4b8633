/**
 * /openapi/v2/timeseries: events of one aspect of all entities of a type, entity by entity. A scroll
 * id names the entity and its last returned event, so that pages fit together while others write.
 */
import type { Catalog, TimeseriesQuery } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";
import type { ModelNames } from "../../schemas/openapi-forms.ts";
import * as forms from "../../schemas/openapi-schemas.ts";
import { query } from "../../schemas/query-parameters.ts";

const countDefault = 10;
const countMax = 5_000;
/** Events of one entity that the catalog gives at once. */
const eventsMax = 10_000;
/** Values of one page: past it the page ends with the entity that it is at. */
const bytesMax = 64 * 1024 * 1024;
/** Entities that one request looks at: most of them may have no events. */
const entitiesMax = 1_000;
const entitiesAtOnce = 100;

interface Query {
  readonly count?: number;
  readonly scrollId?: string;
  readonly startTimeMillis?: number;
  readonly endTimeMillis?: number;
  readonly systemMetadata?: boolean;
}

/** Where a page ended. */
interface Cursor {
  /** The last entity that was looked at. */
  readonly urn: string;
  /** Time of the last returned event, and the number of returned events of that time; absent at the end. */
  readonly time?: number;
  readonly sent?: number;
}

/** Name of `sent` in scroll ids. */
const SENT = "told";

interface Event {
  readonly timestampMillis: number;
  readonly urn: string;
  readonly event: Readonly<Record<string, unknown>>;
  readonly messageId?: unknown;
  readonly systemMetadata?: unknown;
}

type Reads = Pick<Catalog, "urnsAfter" | "getTimeseriesValues">;

export const timeseriesRoutes = (names: ModelNames): readonly Endpoint[] => [
  {
    method: "GET",
    kind: "page",
    group: "OpenAPI",
    path: "/openapi/v2/timeseries/{entity}/{aspect}",
    name: "listEvents",
    parameters: [
      forms.entity,
      forms.aspect,
      query.long("count", `At most so many: ${countDefault} when absent, ${countMax} at most`),
      query.string(
        "scrollId",
        "Scroll id of the previous page; the other parameters must be the same",
      ),
      query.long("startTimeMillis", "Start of the time range, inclusive"),
      query.long("endTimeMillis", "End of the time range, inclusive"),
      forms.systemMetadata,
    ],
    reads: "timeseries",
    async handle({ path, parameters }, { catalog }) {
      const entity = names.entity(path.entity ?? "");
      const aspect = names.aspect(entity, path.aspect ?? "");
      if (names.keyOf(entity) !== undefined && !names.isTimeseries(entity, aspect)) {
        throw new CatalogError(
          "invalid",
          `"${aspect.slice(0, 120)}" is no timeseries aspect of "${entity}"`,
          { hint: "Read others at /openapi/v2/entity" },
        );
      }
      const found = await page({ entity, aspect }, parameters as Query, catalog);
      return { json: JSON.stringify(found) };
    },
  },
];

async function page(
  of: Pick<TimeseriesQuery, "entity" | "aspect">,
  asked: Query,
  catalog: Reads,
): Promise<{ readonly scrollId?: string; readonly results: readonly Event[] }> {
  const { startTimeMillis, count = countDefault } = asked;
  if (count < 0) {
    throw new CatalogError("malformed", `count is ${count}`, { hint: "Send 0 or more" });
  }
  const wanted = Math.min(count, countMax);
  const from = asked.scrollId === undefined ? undefined : cursorIn(asked.scrollId);
  const entities = entitiesFrom(of.entity, from, catalog);
  const results: Event[] = [];
  let bytes = 0;
  let next = await entities.next();
  if (wanted === 0) return { results };
  for (let looked = 1; next.done !== true; looked++) {
    const urn = next.value;
    const cursor = urn === from?.urn ? from : undefined;
    const sent = cursor?.sent ?? 0;
    // One event more shows if there is another page.
    const room = Math.min(wanted - results.length, eventsMax - sent - 1);
    if (room < 1) throw tooMany(urn);
    const endTimeMillis = cursor?.time ?? asked.endTimeMillis;
    const query = { ...of, urn, startTimeMillis, endTimeMillis, limit: sent + room + 1 };
    const { json } = await catalog.getTimeseriesValues(query);
    bytes += json.length;
    const left = eventsIn(json, urn, asked).slice(sent);
    const fresh = left.slice(0, room);
    const last = fresh.at(-1);
    appendAll(results, fresh);
    if (last !== undefined && left.length > room) {
      return { scrollId: scrollIdOf({ urn, ...upTo(last, fresh, cursor) }), results };
    }
    next = await entities.next();
    if (results.length === wanted || looked === entitiesMax || bytes > bytesMax) {
      return next.done === true ? { results } : { scrollId: scrollIdOf({ urn }), results };
    }
  }
  return { results };
}

/** The entities of a type: all, or those after a page, beginning with one that has more events. */
async function* entitiesFrom(
  entity: string,
  from: Cursor | undefined,
  catalog: Reads,
): AsyncGenerator<string, undefined> {
  // If it was deleted meanwhile, it has no events.
  if (from?.time !== undefined) yield from.urn;
  for (let after = from?.urn ?? ""; ; ) {
    const urns = await catalog.urnsAfter(entity, after, entitiesAtOnce);
    yield* urns;
    const last = urns.at(-1);
    if (last === undefined || urns.length < entitiesAtOnce) return;
    after = last;
  }
}

/** Time of the last returned event of an entity, and the number of returned events of that time. */
function upTo(
  { timestampMillis: time }: Event,
  fresh: readonly Event[],
  cursor: Cursor | undefined,
): Pick<Cursor, "time" | "sent"> {
  const same = fresh.filter(({ timestampMillis }) => timestampMillis === time).length;
  return { time, sent: same + (cursor?.time === time ? (cursor.sent ?? 0) : 0) };
}

function eventsIn(json: string, urn: string, { systemMetadata = false }: Query): readonly Event[] {
  const { values } = JSON.parse(json).value as {
    values: readonly { aspect: { value: string }; systemMetadata?: unknown }[];
  };
  return values.map((one) => {
    const event = JSON.parse(one.aspect.value) as Event["event"];
    const { timestampMillis, messageId } = event as {
      timestampMillis: number;
      messageId?: unknown;
    };
    return {
      timestampMillis,
      urn,
      event,
      messageId,
      ...(systemMetadata && { systemMetadata: one.systemMetadata }),
    };
  });
}

const tooMany = (urn: string): CatalogError =>
  new CatalogError("too_large", `"${urn}" has ${eventsMax} events of one time, or more`, {
    hint: "Read them with POST /aspects?action=getTimeseriesAspectValues",
  });

const scrollIdOf = ({ sent, ...cursor }: Cursor): string =>
  Buffer.from(JSON.stringify({ ...cursor, [SENT]: sent })).toString("base64url");

/** Throws `malformed`. */
function cursorIn(scrollId: string): Cursor {
  const rejection = new CatalogError(
    "malformed",
    `"${scrollId.slice(0, 120)}" is not a scroll id`,
    {
      hint: "Send the scroll id of the previous page",
    },
  );
  let cursor: Partial<Record<keyof Cursor | typeof SENT, unknown>> | null;
  try {
    cursor = JSON.parse(Buffer.from(scrollId, "base64url").toString("utf8"));
  } catch {
    throw rejection;
  }
  const { urn, time, [SENT]: sent } = cursor ?? {};
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value);
  if (typeof urn !== "string") throw rejection;
  if (time === undefined) return { urn };
  if (!isCount(time) || !isCount(sent) || sent < 0) throw rejection;
  return { urn, time, sent };
}
