/**
 * Reads events of one timeseries aspect in a time range, both ends inclusive, latest first unless
 * the request sorts otherwise.
 */
import { CatalogError } from "../../core/errors.ts";
import {
  compileFilter,
  type Filter,
  fieldPath,
  filterInNamespace,
  readFilter,
} from "../../core/query/filter.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import {
  type Aspect,
  type Field,
  type FieldType,
  type Model,
  unknownEntityType,
} from "../../model/model.ts";
import type { TimeseriesEvent, TimeseriesReader } from "../../views/timeseries/timeseries-table.ts";
import type { Addresses } from "../address.ts";
import type { JsonText, TimeseriesQuery } from "../catalog.ts";

/** Maximum and default number of events in a response. */
export const eventsMax = 10_000;

/** Fields that events can be sorted by: both are the event's own time. */
const TIME_FIELDS = ["timestampMillis", "@timestamp"];

interface Dependencies {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly namespace: string;
  readonly reader: Pick<TimeseriesReader, "list">;
  /** Waits until the view has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
}

export function createTimeseriesReads(dependencies: Dependencies) {
  const { model, addresses, namespace, reader, caughtUp } = dependencies;

  function checkNames(query: TimeseriesQuery): { readonly urn: string; readonly aspect: Aspect } {
    const stated = model.findEntity(query.entity);
    if (stated === undefined) throw unknownEntityType(model, query.entity, "invalid");
    const { urn, entity } = addresses.writable(query.urn);
    if (entity !== stated) {
      throw new CatalogError(
        "invalid",
        `urn "${urn}" is of entity type "${entity.name}", the request says "${stated.name}"`,
      );
    }
    const aspect = model.findAspectOf(entity, query.aspect);
    if (aspect?.timeseries !== true) {
      const timeseries = entity.aspects.filter((name) => model.aspects.get(name)?.timeseries);
      const versioned = aspect !== undefined;
      throw new CatalogError(
        "invalid",
        versioned
          ? `"${query.aspect}" of entity type "${entity.name}" is not a timeseries aspect`
          : `unknown timeseries aspect "${query.aspect}" for entity type "${entity.name}"`,
        {
          hint: versioned
            ? "Read it at /entitiesV2 or /aspects"
            : (nearest(query.aspect, timeseries) ??
              `Its timeseries aspects: ${timeseries.length === 0 ? "none" : timeseries.join(", ")}`),
        },
      );
    }
    return { urn, aspect };
  }

  return {
    async getTimeseriesValues(query: TimeseriesQuery): Promise<JsonText> {
      const { urn, aspect } = checkNames(query);
      checkEventFields(query.filter, aspect, model.types);
      const limit = limitOf(query);
      const accepts = compileFilter(filterInNamespace(query.filter, namespace));
      const ascending = ascendingOf(query);
      await caughtUp();
      const events = await reader.list(
        { urn, aspect: query.aspect, from: query.startTimeMillis, to: query.endTimeMillis },
        {
          limit,
          ascending,
          accept: query.filter && ((event) => accepts({ urn, ...JSON.parse(event.value) })),
        },
      );
      rejectTooLarge(events);
      return { json: answer(query, limit, events) };
    },
  };
}

/** Bytes of the events in a response, which contains each as text within text. */
const responseBytesMax = 128 * 1024 * 1024;

function rejectTooLarge(events: readonly TimeseriesEvent[]): void {
  const bytes = events.reduce((sum, { value }) => sum + value.length, 0);
  if (bytes <= responseBytesMax || events.length < 2) return;
  throw new CatalogError(
    "too_large",
    `the ${events.length} events have ${bytes} bytes; at most ${responseBytesMax} are allowed`,
    { hint: "Request fewer events (limit) or a shorter time range" },
  );
}

function limitOf({ limit, latestValue }: TimeseriesQuery): number {
  if (latestValue) return 1;
  // As in DataHub, a negative limit means no limit.
  return limit === undefined || limit < 0 ? eventsMax : Math.min(limit, eventsMax);
}

function ascendingOf({ sort }: TimeseriesQuery): boolean {
  if (sort === undefined) return false;
  if (!TIME_FIELDS.includes(sort.field)) {
    throw new CatalogError("invalid", `timeseries cannot be sorted by "${sort.field}"`, {
      hint: `Sort by ${TIME_FIELDS.join(" or ")}`,
    });
  }
  return sort.order === "ASCENDING";
}

function answer(query: TimeseriesQuery, limit: number, events: readonly TimeseriesEvent[]): string {
  const head = JSON.stringify({
    entityName: query.entity,
    aspectName: query.aspect,
    startTimeMillis: timeFor(query.startTimeMillis),
    endTimeMillis: timeFor(query.endTimeMillis),
    filter: query.filter,
    limit,
  });
  const values = events.map(
    ({ value, system }) =>
      `{"aspect":{"value":${JSON.stringify(ascii(value))},"contentType":"application/json"},"systemMetadata":${system}}`,
  );
  return `{"value":${head.slice(0, -1)},"values":[${values.join(",")}]}}`;
}

/**
 * Clamps a bound of the range to safe integers. Events have no times beyond them, and clients with
 * 64-bit integers cannot parse the double nearest to 2^63 - 1.
 */
const timeFor = (asked: number | undefined): number | undefined =>
  asked && Math.min(Math.max(asked, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

/**
 * Escapes all non-ASCII characters: DataHub's clients read this text as bytes or as text, and both
 * must give the same result.
 */
function ascii(json: string): string {
  return json.replace(
    /[\u0080-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Field of every event beside its own. */
const URN = "urn";

/** Throws `malformed` for a field that no event of the aspect can have. */
function checkEventFields(filter: Filter | undefined, aspect: Aspect, types: Model["types"]): void {
  if (filter === undefined || filter === null) return;
  for (const { field } of readFilter(filter).flat()) {
    const path = fieldPath(field);
    const fields = fieldsOf({ kind: "named", name: aspect.record }, types);
    if ((path.length === 1 && path[0] === URN) || leadsInto(fields, path, types)) continue;
    const names = [URN, ...fields.map(({ name }) => name)];
    throw new CatalogError("malformed", `events of "${aspect.name}" have no field "${field}"`, {
      hint: nearest(path[0] ?? "", names) ?? `Use one of ${names.join(", ")}`,
    });
  }
}

function leadsInto(
  fields: readonly Field[],
  [first, ...rest]: readonly string[],
  types: Model["types"],
): boolean {
  const field = fields.find(({ name }) => name === first);
  return field !== undefined && leads(field.type, rest, types);
}

/** Keys of maps and members of unions are not checked, dots included. */
function leads(type: FieldType, path: readonly string[], types: Model["types"]): boolean {
  if (path.length === 0 || type.kind === "map" || type.kind === "union") return true;
  if (type.kind === "array") return leads(type.items, path, types);
  return leadsInto(fieldsOf(type, types), path, types);
}

function fieldsOf(type: FieldType, types: Model["types"]): readonly Field[] {
  const named = type.kind === "named" ? types.get(type.name) : undefined;
  return named?.kind === "record" ? named.fields : [];
}
