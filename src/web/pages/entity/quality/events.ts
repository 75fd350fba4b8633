/** Reads events of timeseries aspects, and the entities that assess another one. */
import type { Aspects } from "../../../api/aspect.ts";
import { asOfParameter, readAspects } from "../../../api/entities.ts";
import { read } from "../../../api/http.ts";
import { at, isObject, type JsonObject, listAt, numberAt, textAt } from "../../../api/json.ts";
import { typeOf } from "../../../api/urn.ts";

interface EventRequest {
  readonly urn: string;
  readonly aspect: string;
  readonly asOf: string | undefined;
  readonly limit: number;
}

/** The latest events, oldest first. */
export async function readEvents(request: EventRequest): Promise<readonly JsonObject[]> {
  const { urn, aspect, asOf, limit } = request;
  const query = asOfParameter(asOf);
  const value = await read<unknown>(
    `/aspects?action=getTimeseriesAspectValues${query === "" ? "" : `&${query}`}`,
    { body: { urn, entity: typeOf(urn), aspect, limit } },
  );
  const events = listAt(value, "value", "values").flatMap((one) => {
    const event: unknown = JSON.parse(textAt(one, "aspect", "value") ?? "{}");
    return isObject(event) ? [event] : [];
  });
  return events.toSorted((a, b) => timeOf(a) - timeOf(b));
}

export const timeOf = (event: JsonObject): number => numberAt(event, "timestampMillis") ?? 0;

/** An assertion or incident on an entity. */
export interface Assessment {
  readonly urn: string;
  readonly aspects: Aspects;
}

const assessmentsMax = 500;

/** The entities with an edge of a type to an entity, without those that are soft-deleted. */
export async function readAssessments(
  urn: string,
  type: string,
  aspect: string,
): Promise<readonly Assessment[]> {
  const query = new URLSearchParams({
    urn,
    direction: "INCOMING",
    types: type,
    count: String(assessmentsMax),
  });
  const value = await read<unknown>(`/relationships?${query}`);
  const urns = listAt(value, "relationships").flatMap((one) => textAt(one, "entity") ?? []);
  const found = await readAspects(urns, [aspect, "status"]);
  return urns.flatMap((one) => {
    const aspects = found.get(one) ?? new Map();
    const removed = at(aspects.get("status")?.value, "removed") === true;
    return removed || !aspects.has(aspect) ? [] : [{ urn: one, aspects }];
  });
}
