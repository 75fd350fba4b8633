/** Tools that read entities, now or as of a point in time, and timeseries. */
import { z } from "zod";
import type { AsOfPoint, Catalog, EntityReads, FoundEntity } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { position } from "../../core/position.ts";
import { isoTimeText, maxCharacters, urn } from "../arguments.ts";
import { cutValue, isoTime, parseTime } from "../results.ts";
import { defineTool, type Tool } from "../tool.ts";

const timeseriesCountMax = 100;
const standardCharacters = 8_000;

interface EntitiesRequest {
  readonly urns: readonly string[];
  /** All when absent. */
  readonly aspects?: readonly string[] | undefined;
  readonly max_characters?: number | undefined;
}

/** Entities with their aspects; each aspect with its version, writer, time and run. */
export async function readEntities(request: EntitiesRequest, catalog: Catalog): Promise<object> {
  const at = catalog.positionOf("entities");
  return { position: at, entities: await foundEntities(request, catalog) };
}

async function foundEntities(
  { urns, aspects, max_characters = standardCharacters }: EntitiesRequest,
  reads: EntityReads,
): Promise<readonly object[]> {
  const entities = await reads.findEntities(urns, aspects);
  return entities.map((entity) => entityResult(entity, max_characters));
}

const entityResult = ({ urn, entityType, exists, aspects }: FoundEntity, characters: number) => ({
  urn,
  type: entityType,
  exists,
  aspects: Object.fromEntries(
    aspects.map(({ name, version, value, time, actor, system }) => [
      name,
      {
        version,
        written_by: actor,
        written_at: isoTime(time),
        run: system.runId,
        value: cutValue(JSON.parse(value), characters),
      },
    ]),
  ),
});

const entityArguments = {
  urns: z.array(urn).min(1).max(20),
  aspects: z
    .array(z.string().max(200))
    .max(100)
    .optional()
    .describe('Names, such as "ownership", "globalTags", "datasetProperties"; all if absent'),
  max_characters: maxCharacters,
};

const getEntities = defineTool({
  name: "get_entities",
  title: "Get entities",
  description:
    "Reads entities with their aspects (properties, ownership, tags, schema and so on). Each aspect has its version, the urn of its writer, the time and the run. For wide schemas use list_columns.",
  input: entityArguments,
  run: (request, { catalog }) => readEntities(request, catalog),
});

const getEntitiesAsOf = defineTool({
  name: "get_entities_as_of",
  title: "Get entities as of a point in time",
  description:
    "Reads entities as they were at a time in the past or after a position of the log. Compare with get_entities to learn what differs now.",
  input: {
    ...entityArguments,
    time: isoTimeText.optional().describe("ISO 8601 time; or use position"),
    position: z.int().min(0).optional().describe("Position of the log; or use time"),
  },
  async run({ time, position: at, ...request }, { catalog }) {
    const reads = await catalog.asOf(asOfPointOf(time, at));
    const entities = await foundEntities(request, reads);
    return { position: reads.shown(), entities };
  },
});

function asOfPointOf(time: string | undefined, at: number | undefined): AsOfPoint {
  if (time !== undefined && at === undefined) return { time: parseTime("time", time) };
  if (time === undefined && at !== undefined) return { position: position(at) };
  throw new CatalogError("malformed", "time and position are both present or both absent", {
    hint: "Send exactly one of them",
  });
}

const getTimeseries = defineTool({
  name: "get_timeseries",
  title: "Get timeseries events",
  description:
    "Reads the newest events of a timeseries aspect of an entity: datasetProfile (row counts, statistics of columns), datasetUsageStatistics, operation, assertionRunEvent, dataProcessInstanceRunEvent and others.",
  input: {
    urn,
    aspect: z.string().max(200),
    start_time: isoTimeText.optional().describe("ISO 8601 time of the earliest event"),
    end_time: isoTimeText.optional().describe("ISO 8601 time of the latest event"),
    count: z.int().min(1).max(timeseriesCountMax).default(10),
    max_characters: maxCharacters,
  },
  async run({ urn, aspect, start_time, end_time, count, max_characters }, { catalog }) {
    const at = catalog.positionOf("timeseries");
    const entity = urn.split(":")[2] ?? "";
    const { json } = await catalog.getTimeseriesValues({
      urn,
      entity,
      aspect,
      startTimeMillis: start_time === undefined ? undefined : parseTime("start_time", start_time),
      endTimeMillis: end_time === undefined ? undefined : parseTime("end_time", end_time),
      limit: count,
    });
    const { value } = JSON.parse(json) as {
      value: { values: readonly { readonly aspect: { readonly value: string } }[] };
    };
    const events = value.values.map(({ aspect }) =>
      cutValue(JSON.parse(aspect.value), max_characters),
    );
    return { position: at, urn, aspect, events };
  },
});

export const entityTools: readonly Tool[] = [getEntities, getEntitiesAsOf, getTimeseries];
