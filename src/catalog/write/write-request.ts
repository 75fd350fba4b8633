/** Write requests: the commands of a request, grouped by entity. */
import type { AuditStamp, Change } from "../../core/change.ts";
import { type AspectCommand, systemOf } from "../../core/decide.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Revision } from "../../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import type { Appended } from "../../log/change-log.ts";
import type { Entity } from "../../model/model.ts";
import type { ValidatedProposal } from "./proposals/validated-proposal.ts";

export interface EventCommand {
  readonly aspect: string;
  readonly command: AspectCommand;
  /**
   * Number of aspect commands before the event in the request; absent: it has no order among them.
   */
  readonly after?: number | undefined;
}

/** The commands of a request for one entity. */
export interface WriteRequest {
  readonly urn: string;
  readonly entity: Entity;
  readonly commands: AspectCommand[];
  /** Events of timeseries aspects, in order. */
  readonly events: EventCommand[];
  /** Expected revisions of the event streams by aspect, if they matter. */
  readonly eventRevisions?: ReadonlyMap<string, Revision>;
}

export function writeRequestsOf(prepared: readonly ValidatedProposal[]): readonly WriteRequest[] {
  const byUrn = new Map<string, WriteRequest>();
  for (const { urn, entity, aspect, command } of prepared) {
    let writeRequest = byUrn.get(urn);
    if (writeRequest === undefined) {
      writeRequest = { urn, entity, commands: [], events: [] };
      byUrn.set(urn, writeRequest);
    }
    if (aspect.timeseries) {
      writeRequest.events.push({
        aspect: aspect.name,
        command,
        after: writeRequest.commands.length,
      });
    } else writeRequest.commands.push(command);
  }
  return [...byUrn.values()];
}

/** The streams that a write request may append to. */
export const streamsOf = ({ urn, events }: WriteRequest): readonly StreamName[] => [
  entityStream(urn),
  ...events.map(({ aspect }) => timeseriesStream(urn, aspect)),
];

/** The write requests without the parts that are already appended. */
export function without(
  writeRequests: readonly WriteRequest[],
  appended: ReadonlyMap<StreamName, Appended>,
): readonly WriteRequest[] {
  if (appended.size === 0) return writeRequests;
  return writeRequests.flatMap((writeRequest) => {
    const { urn } = writeRequest;
    const commands = appended.has(entityStream(urn)) ? [] : writeRequest.commands;
    const events = writeRequest.events.filter(
      ({ aspect }) => !appended.has(timeseriesStream(urn, aspect)),
    );
    return commands.length + events.length === 0 ? [] : [{ ...writeRequest, commands, events }];
  });
}

const NAMED_MAX = 20;

/** Error for a partially committed request; names the entities that were written. */
export function inPart(
  error: unknown,
  asked: readonly WriteRequest[],
  left: readonly WriteRequest[],
): unknown {
  const open = new Set(left.flatMap(({ urn, commands }) => (commands.length > 0 ? [urn] : [])));
  const written = asked.filter(({ urn, commands }) => commands.length > 0 && !open.has(urn));
  if (written.length === 0 || !(error instanceof CatalogError)) return error;
  const named = written.slice(0, NAMED_MAX).map(({ urn }) => `"${urn}"`);
  const more = written.length > NAMED_MAX ? ` and ${written.length - NAMED_MAX} more` : "";
  const hint = `The request is partially committed: ${named.join(", ")}${more}. Another writer changed the next entity`;
  return new CatalogError(error.code, error.message, {
    hint: error.hint === undefined ? hint : `${hint}. ${error.hint}`,
    cause: error,
  });
}

/** The change that the log stores for an event. */
export function eventChange(
  { urn, entity }: WriteRequest,
  command: AspectCommand,
  created: AuditStamp,
): Change {
  const { value } = command;
  const text = typeof value === "object" ? value.text : undefined;
  return {
    urn,
    entityType: entity.name,
    aspect: command.aspect,
    changeType: command.kind === "delete" ? "DELETE" : "UPSERT",
    value: text,
    created,
    system: {
      ...systemOf(command.system, undefined, created),
      schemaVersion: command.schemaVersion,
    },
    headers: command.headers,
  };
}
