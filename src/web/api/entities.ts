/** Reads of entities: one whole entity, and short summaries of many. */
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import type { Aspects } from "./aspect.ts";
import { ApiError, read, send } from "./http.ts";
import { at, isObject, numberAt, textAt } from "./json.ts";
import { type Summary, summaryAspects, summaryOf } from "./summary.ts";
import { isUrn, nameOfUrn } from "./urn.ts";

export interface Entity {
  readonly urn: string;
  readonly aspects: Aspects;
  /** Position of the log that the entity is read at. */
  readonly position: number;
}

/** A point in the past: an ISO time or a position of the log. */
export const asOfParameter = (asOf: string | undefined): string =>
  asOf === undefined || asOf === ""
    ? ""
    : /^\d+$/.test(asOf)
      ? `asOfPosition=${asOf}`
      : `asOfTime=${encodeURIComponent(asOf)}`;

/** `List(…)` of Rest.li, whose members may have brackets of their own. */
const listParameter = (values: readonly string[]): string =>
  `List(${values.map(encodeMember).join(",")})`;

const encodeMember = (value: string): string =>
  encodeURIComponent(value).replaceAll("(", "%28").replaceAll(")", "%29").replaceAll("'", "%27");

export async function readEntity(urn: string, asOf?: string): Promise<Entity> {
  const query = asOfParameter(asOf);
  const path = `/entitiesV2/${encodeURIComponent(urn)}${query === "" ? "" : `?${query}`}`;
  const { value, position } = await send<unknown>(path);
  return { urn, aspects: aspectsOf(at(value, "aspects")), position };
}

export const entityQuery = (urn: string, asOf?: string) =>
  queryOptions({ queryKey: ["entity", urn, asOf ?? ""], queryFn: () => readEntity(urn, asOf) });

function aspectsOf(json: unknown): Aspects {
  if (!isObject(json)) return new Map();
  return new Map(
    Object.entries(json).map(([name, aspect]) => {
      const value = at(aspect, "value");
      return [
        name,
        {
          name,
          value: isObject(value) ? value : {},
          actor: textAt(aspect, "created", "actor") ?? "",
          time: numberAt(aspect, "created", "time") ?? 0,
          version: textAt(aspect, "systemMetadata", "version") ?? "",
          runId: textAt(aspect, "systemMetadata", "runId"),
        },
      ];
    }),
  );
}

interface Waiting {
  readonly urn: string;
  readonly resolve: (summary: Summary) => void;
}

/** Entities of one request: their urns are in its address. */
const entitiesMax = 40;
let waiting: Waiting[] = [];

/** Reads a summary. Concurrent calls share one request. */
function loadSummary(urn: string): Promise<Summary> {
  return new Promise((resolve) => {
    waiting.push({ urn, resolve });
    if (waiting.length === 1) setTimeout(sendWaiting, 2);
  });
}

function sendWaiting(): void {
  const all = waiting;
  waiting = [];
  for (let from = 0; from < all.length; from += entitiesMax) {
    void answer(all.slice(from, from + entitiesMax));
  }
}

async function answer(members: readonly Waiting[]): Promise<void> {
  const urns = [...new Set(members.map(({ urn }) => urn))];
  const results = await readSummaries(urns.filter(isUrn)).catch(() => new Map<string, Summary>());
  for (const { urn, resolve } of members) {
    resolve(results.get(urn) ?? summaryOf(urn, new Map()));
  }
}

/** Without the urns that the service rejects: they do not fail the others of a request. */
async function readSummaries(urns: readonly string[]): Promise<ReadonlyMap<string, Summary>> {
  if (urns.length === 0) return new Map();
  try {
    const found = await readAspects(urns, summaryAspects);
    return new Map(urns.map((urn) => [urn, summaryOf(urn, found.get(urn) ?? new Map())] as const));
  } catch (error) {
    // Malformed, or of an unknown type.
    const rejected = error instanceof ApiError && [400, 404].includes(error.status);
    if (!rejected || urns.length === 1) throw error;
    const middle = Math.ceil(urns.length / 2);
    const halves = [urns.slice(0, middle), urns.slice(middle)].map((half) =>
      readSummaries(half).catch(() => new Map<string, Summary>()),
    );
    return new Map((await Promise.all(halves)).flatMap((half) => [...half]));
  }
}

/** Some aspects of some entities. Entities that do not exist have none. */
export async function readAspects(
  urns: readonly string[],
  names: readonly string[],
): Promise<ReadonlyMap<string, Aspects>> {
  const batches = Array.from({ length: Math.ceil(urns.length / entitiesMax) }, (_, n) =>
    urns.slice(n * entitiesMax, (n + 1) * entitiesMax),
  );
  const pages = batches.map(async (batch) => {
    const query = `ids=${listParameter(batch)}&aspects=${listParameter(names)}`;
    const results = at(await read<unknown>(`/entitiesV2?${query}`), "results");
    return batch.map((urn) => [urn, aspectsOf(at(results, urn, "aspects"))] as const);
  });
  return new Map((await Promise.all(pages)).flat());
}

export const summaryQuery = (urn: string) =>
  queryOptions({
    queryKey: ["summary", urn],
    queryFn: () => loadSummary(urn),
    staleTime: 60_000,
    enabled: urn !== "",
  });

/** The summary of an entity; from its urn alone until it is loaded. */
export function useSummary(urn: string): Summary {
  const { data } = useQuery(summaryQuery(urn));
  return data ?? summaryOf(urn, new Map());
}

/** The result of a function that reads names of entities; with those of their urns until they are loaded. */
export function useNamed<Result>(make: (nameOf: (urn: string) => string) => Result): Result {
  const urns = new Set<string>();
  make((urn) => {
    urns.add(urn);
    return urn;
  });
  const loaded = useQueries({ queries: [...urns].map(summaryQuery) });
  const names = new Map(loaded.flatMap(({ data }) => (data ? [[data.urn, data.name]] : [])));
  return make((urn) => names.get(urn) ?? nameOfUrn(urn));
}
