/** The id of a log, which its first node wrote to a separate stream on the server. */
import { randomUUID } from "node:crypto";
import { EMPTY_STREAM } from "../../core/position.ts";
import { WrongRevision } from "../change-log.ts";
import type { AppendSession } from "./append-session.ts";
import type { Connection } from "./connection.ts";
import { identityStream, identityType, serverName } from "./events.ts";
import { ONE, type Page, readStreamPage } from "./reads.ts";

const CONNECT_MS_MAX = 5_000;

/** `prefix`: prefix of the log's streams on the server. */
export function readIdentity(connection: Connection, prefix: string): Promise<Page> {
  const options = { ...ONE, deadlineMs: CONNECT_MS_MAX };
  return readStreamPage(connection, serverName(prefix, identityStream), 0, options);
}

/** Returns the log's id. Creates one if it has none, unless the log is open for reading only. */
export async function logIdentity(
  connection: Connection,
  session: Pick<AppendSession, "send">,
  { prefix, readOnly }: { readonly prefix: string; readonly readOnly: boolean },
): Promise<string | undefined> {
  const present = await first();
  if (present !== undefined || readOnly) return present;
  const given = Buffer.from(JSON.stringify({ id: randomUUID() }));
  try {
    await session.send({
      stream: identityStream,
      name: serverName(prefix, identityStream),
      expected: EMPTY_STREAM,
      eventIds: [randomUUID()],
      type: identityType,
      json: true,
      records: [given],
      bytes: given.length,
    });
  } catch (error) {
    // Another node was first.
    if (!(error instanceof WrongRevision)) throw error;
  }
  return first();

  async function first(): Promise<string | undefined> {
    const page = await connection.retrying(() => readIdentity(connection, prefix));
    const event = page.events.find(({ type }) => type === identityType);
    return event && idIn(event.data);
  }
}

function idIn(data: Uint8Array): string | undefined {
  const { id } = JSON.parse(Buffer.from(data).toString()) as { id?: unknown };
  return typeof id === "string" ? id : undefined;
}
