/** Checks an EventStoreDB for `annals check`: its version and the permissions of the user. */
import { randomUUID } from "node:crypto";
import { revision } from "../../core/position.ts";
import { WrongRevision } from "../change-log.ts";
import { openAppendSession } from "./append-session.ts";
import { openConnection } from "./connection.ts";
import { isAccessDenied, translated } from "./errors.ts";
import { identityStream, identityType, recordTypes, serverName } from "./events.ts";
import { readAllPage, readStreamPage } from "./reads.ts";

interface EventStorePlace {
  readonly connection: string;
  readonly prefix?: string | undefined;
}

const ANSWER_MS_MAX = 5_000;
const OLDEST_MAJOR = 22;
/** No stream reaches this revision, so an append that expects it writes nothing. */
const UNREACHED_REVISION = 2 ** 40;

/** Rejects with CatalogError `unavailable` when the server cannot be reached. */
export async function checkEventStore(
  place: EventStorePlace,
): Promise<{ version: string; findings: readonly string[] }> {
  const connection = openConnection(place.connection);
  const { hosts, secure, withCredentials } = connection.address;
  const name = serverName(place.prefix ?? "", identityStream);
  const page = { count: 1, backward: false, bytesMax: 1, deadlineMs: ANSWER_MS_MAX };
  const probe = (): Promise<unknown> => readStreamPage(connection, name, 0, page);
  const session = openAppendSession({ connection, probe, find: async () => undefined });
  const findings: string[] = [];
  const allowed = async (work: () => Promise<unknown>, finding: string): Promise<void> => {
    try {
      await connection.retrying(work);
    } catch (error) {
      if (!isAccessDenied(error)) throw translated(error, hosts);
      findings.push(finding);
    }
  };
  const write = async (): Promise<void> => {
    const data = Buffer.from("{}");
    const attempt = session.send({
      stream: identityStream,
      name,
      expected: revision(UNREACHED_REVISION),
      eventIds: [randomUUID()],
      type: identityType,
      json: true,
      records: [data],
      bytes: data.length,
    });
    await attempt.catch((error) => {
      if (!(error instanceof WrongRevision)) throw error;
    });
  };

  try {
    await allowed(
      probe,
      `The user may not read the stream "${name}": let it read the streams of the catalog.`,
    );
    const version = await connection.serverVersion().catch((error) => {
      throw translated(error, hosts);
    });
    await allowed(
      () => readAllPage(connection, "start", { types: recordTypes }, page),
      "The user may not read $all, which all views follow: make it one of $admins, or let it read $all in the server's $settings.",
    );
    await allowed(
      write,
      `The user may not write the stream "${name}": let it write the streams of the catalog.`,
    );
    const major = Number.parseInt(version, 10);
    if (major < OLDEST_MAJOR) {
      findings.push(
        `The server is of release ${version}: upgrade it to ${OLDEST_MAJOR}.10 or later.`,
      );
    }
    if (!secure && withCredentials) {
      findings.push(
        "The address has a user, but tls=false, and without TLS the user is not sent: take the user out, or switch TLS on.",
      );
    }
    return { version, findings };
  } finally {
    session.close();
    await connection.close();
  }
}
