/**
 * Hard delete (contract §3.5): of an entity, by deleting its key aspect; or of the events of one of
 * its timeseries aspects within a range. What the answer counts is what the delete takes away.
 */
import type { AuditStamp } from "../core/change.ts";
import { NO_RUN_ID } from "../core/change.ts";
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { Model } from "../model/model.ts";
import type { TimeseriesReader } from "../timeseries/timeseries-table.ts";
import type { Address, Addresses } from "./address.ts";
import type { Caller, Catalog } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import type { Ingestion } from "./ingest.ts";

interface Dependencies {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly states: EntityStates;
  readonly ingestion: Ingestion;
  readonly reader: TimeseriesReader;
  readonly systemActor: string;
  readonly now: () => number;
  readonly caughtUp: () => Promise<void>;
  readonly onDeleted: (position: Position) => void;
}

type Request = Parameters<Catalog["delete"]>[0];
type Answer = ReturnType<Catalog["delete"]>;

export function createDelete(dependencies: Dependencies): Catalog["delete"] {
  const { addresses, states, ingestion, reader, caughtUp } = dependencies;

  async function deleteEntity({ urn, entity }: Address, request: Request, caller: Caller): Answer {
    const [state] = await states.read([urn]);
    await caughtUp();
    const timeseriesRows = await reader.count({ urn });
    const exists = state !== undefined && currentAspect(state, entity.keyAspect) !== undefined;
    const counted = { urn, rows: exists ? valuesOf(state) : 0, timeseriesRows };
    if (request.dryRun || !exists) return { ...counted, position: undefined };
    const { position } = await ingestion.ingest(
      [
        {
          entityType: entity.name,
          entityUrn: urn,
          changeType: "DELETE",
          aspectName: entity.keyAspect,
        },
      ],
      caller,
    );
    if (position !== undefined) dependencies.onDeleted(position);
    return { ...counted, position };
  }

  async function deleteEvents(
    address: Address,
    aspect: string,
    request: Request,
    caller: Caller,
  ): Answer {
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
    await caughtUp();
    const timeseriesRows = await reader.count({ urn, aspect, from, to });
    if (request.dryRun || timeseriesRows === 0) return { urn, timeseriesRows, position: undefined };
    const created: AuditStamp = {
      time: dependencies.now(),
      actor: caller.actor ?? dependencies.systemActor,
    };
    const { position } = await ingestion.append(
      {
        urn,
        entityType: entity.name,
        aspect,
        changeType: "DELETE",
        created,
        system: { lastObserved: created.time, runId: NO_RUN_ID },
        headers: rangeHeaders(from, to),
      },
      caller,
    );
    return { urn, timeseriesRows, position };
  }

  return async (request, caller) => {
    const address = addresses.known(request.urn);
    const ranged = request.startTimeMillis !== undefined || request.endTimeMillis !== undefined;
    if (request.aspectName === undefined && ranged) {
      throw new CatalogError("malformed", "a time range is given without aspectName", {
        hint: "Name the timeseries aspect, or leave the range out to delete the whole entity",
      });
    }
    return request.aspectName === undefined
      ? deleteEntity(address, request, caller)
      : deleteEvents(address, request.aspectName, request, caller);
  };
}

/** Every numbered value of every aspect that the entity has now. */
function valuesOf(state: EntityState): number {
  let count = 0;
  for (const aspect of state.aspects.values()) if (!aspect.removed) count += aspect.version;
  return count;
}

/** The range of a timeseries delete, as projections/timeseries.ts reads it. */
function rangeHeaders(
  from: number | undefined,
  to: number | undefined,
): Readonly<Record<string, string>> {
  return {
    ...(from !== undefined && { "annals-from": String(from) }),
    ...(to !== undefined && { "annals-to": String(to) }),
  };
}
