/**
 * Hard delete: of an entity, by deleting its key aspect; or of the events of one timeseries aspect
 * within a range. The response counts the deleted rows.
 */
import type { AuditStamp } from "../../core/change.ts";
import { NO_RUN_ID } from "../../core/change.ts";
import { currentAspect } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import type { Entity, Model } from "../../model/model.ts";
import type { TimeseriesReader } from "../../views/timeseries/timeseries-table.ts";
import type { Address, Addresses } from "../address.ts";
import type { Caller, Catalog, Proposal, Written } from "../catalog.ts";
import type { EntityCache } from "./entity-cache.ts";
import type { DeletedRows } from "./entity-lifetimes.ts";
import type { Ingestion } from "./ingest.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "rejectGone">;
  readonly model: Model;
  readonly addresses: Addresses;
  readonly states: EntityCache;
  readonly ingestion: Ingestion;
  readonly countValues: DeletedRows["countValues"];
  readonly reader: TimeseriesReader;
  readonly systemActor: string;
  readonly now: () => number;
  readonly caughtUp: () => Promise<void>;
}

type Request = Parameters<Catalog["delete"]>[0];
type DeleteResult = ReturnType<Catalog["delete"]>;
type Earlier = Omit<Awaited<DeleteResult>, "urn"> | undefined;

/** Headers of a delete's record: its response, for a repetition of the request. */
const ROWS = "annals-rows";
const TIMESERIES_ROWS = "annals-timeseries-rows";

export function createDelete(dependencies: Dependencies): Catalog["delete"] {
  const { addresses, states, ingestion, reader, caughtUp } = dependencies;

  /** The response to the same earlier request, from its record in the log. */
  async function answered(stream: StreamName, request: Request, caller: Caller): Promise<Earlier> {
    if (request.dryRun) return undefined;
    const earlier = await ingestion.earlier(stream, caller, request);
    const { [ROWS]: rows, [TIMESERIES_ROWS]: timeseriesRows } = earlier?.headers ?? {};
    if (earlier === undefined || timeseriesRows === undefined) return undefined;
    return {
      ...(rows !== undefined && { rows: Number(rows) }),
      timeseriesRows: Number(timeseriesRows),
      position: earlier.position,
    };
  }

  async function deleteEntity(
    { urn, entity }: Address,
    request: Request,
    caller: Caller,
  ): DeleteResult {
    const stream = entityStream(urn);
    const before = await answered(stream, request, caller);
    if (before !== undefined) return { urn, ...before };
    // Writes of other processes count, too.
    states.invalidate([urn]);
    const [state] = await states.read([urn]);
    await caughtUp();
    const timeseriesRows = await reader.count({ urn });
    const exists = state !== undefined && currentAspect(state, entity.keyAspect) !== undefined;
    const rows = exists ? await dependencies.countValues(state) : 0;
    const counted = { urn, rows, timeseriesRows, position: undefined };
    if (!exists) await dependencies.log.rejectGone?.(stream);
    if (request.dryRun) return counted;
    if (!exists) {
      // The same request may have completed meanwhile.
      const done = await answered(stream, request, caller);
      if (done !== undefined || timeseriesRows === 0) return { ...counted, ...done };
      return { ...counted, position: await deleteRemainingEvents(urn, entity, request, caller) };
    }
    const proposal: Proposal = {
      entityType: entity.name,
      entityUrn: urn,
      changeType: "DELETE",
      aspectName: entity.keyAspect,
      headers: { [ROWS]: String(rows), [TIMESERIES_ROWS]: String(timeseriesRows) },
    };
    const { position } = await ingestion.ingest([proposal], caller, request);
    return { ...counted, position };
  }

  /** Deletes the events of an entity that does not exist. */
  async function deleteRemainingEvents(
    urn: string,
    entity: Entity,
    request: Request,
    caller: Caller,
  ): Promise<Position | undefined> {
    let last: Position | undefined;
    for (const name of entity.aspects) {
      if (dependencies.model.aspects.get(name)?.timeseries !== true) continue;
      const timeseriesRows = await reader.count({ urn, aspect: name });
      if (timeseriesRows === 0) continue;
      const { position } = await appendDelete({ urn, entity }, name, request, caller, {
        timeseriesRows,
      });
      last = position;
    }
    return last;
  }

  async function appendDelete(
    { urn, entity }: Pick<Address, "urn" | "entity">,
    aspect: string,
    request: Request,
    caller: Caller,
    { timeseriesRows, range = {} }: { timeseriesRows: number; range?: Record<string, string> },
  ): Promise<Written> {
    const created: AuditStamp = {
      time: dependencies.now(),
      actor: caller.actor ?? dependencies.systemActor,
    };
    return ingestion.append(
      {
        urn,
        entityType: entity.name,
        aspect,
        changeType: "DELETE",
        created,
        system: { lastObserved: created.time, runId: NO_RUN_ID },
        headers: { ...range, [TIMESERIES_ROWS]: String(timeseriesRows) },
      },
      caller,
      request,
    );
  }

  async function deleteEvents(
    address: Address,
    aspect: string,
    request: Request,
    caller: Caller,
  ): DeleteResult {
    const { urn, entity } = address;
    const { startTimeMillis: from, endTimeMillis: to } = request;
    const found = dependencies.model.findAspectOf(entity, aspect);
    if (!found?.timeseries) {
      throw new CatalogError(
        "invalid",
        `"${aspect}" is not a timeseries aspect of "${entity.name}"`,
        {
          hint: "Delete a versioned aspect with a proposal of change type DELETE",
        },
      );
    }
    const stream = timeseriesStream(urn, aspect);
    const before = await answered(stream, request, caller);
    if (before !== undefined) return { urn, ...before };
    await caughtUp();
    const timeseriesRows = await reader.count({ urn, aspect, from, to });
    const counted = { urn, timeseriesRows, position: undefined };
    if (request.dryRun) return counted;
    if (timeseriesRows === 0) return { ...counted, ...(await answered(stream, request, caller)) };
    const range = rangeHeaders(from, to);
    const { position } = await appendDelete(address, aspect, request, caller, {
      ...{ timeseriesRows, range },
    });
    return { ...counted, position };
  }

  return async (request, caller) => {
    const address = addresses.readable(request.urn);
    // Every spelling of the urn is the same request.
    const normalized = { ...request, urn: address.urn };
    const ranged = request.startTimeMillis !== undefined || request.endTimeMillis !== undefined;
    if (request.aspectName === undefined && ranged) {
      throw new CatalogError("malformed", "a time range needs aspectName", {
        hint: "Name the timeseries aspect, or omit the range to delete the whole entity",
      });
    }
    return request.aspectName === undefined
      ? deleteEntity(address, normalized, caller)
      : deleteEvents(address, request.aspectName, normalized, caller);
  };
}

/** The range of a timeseries delete, in the form that projections/timeseries.ts reads. */
function rangeHeaders(from: number | undefined, to: number | undefined): Record<string, string> {
  return {
    ...(from !== undefined && { "annals-from": String(from) }),
    ...(to !== undefined && { "annals-to": String(to) }),
  };
}
