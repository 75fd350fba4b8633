/** Checks that a Neo4j server can store the graph: version, settings and permissions of the user. */
import { randomUUID } from "node:crypto";
import { messageOf } from "../../../core/errors.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import { connectNeo4j, type Neo4jServer } from "./connection.ts";
import { namesOf } from "./schema.ts";

const OLDEST: readonly [major: number, minor: number] = [5, 26];

/** Rejects if the server cannot be reached. No findings: the check passed. */
export async function checkNeo4j(
  address: ServerAddress,
): Promise<{ readonly version: string; readonly findings: readonly string[] }> {
  const server = connectNeo4j(address);
  try {
    const version = await server.version();
    const findings = [...versionFindings(version), ...(await writeFindings(server, address))];
    if (findings.length === 0) appendAll(findings, await memoryFindings(server));
    return { version, findings };
  } finally {
    await server.close();
  }
}

function versionFindings(version: string): readonly string[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return [];
  return [
    `Neo4j ${version} is older than ${OLDEST.join(".")}, the oldest that is supported: upgrade it.`,
  ];
}

/** Tries to create and delete a constraint and a node. */
async function writeFindings(
  server: Neo4jServer,
  address: ServerAddress,
): Promise<readonly string[]> {
  const label = `${namesOf(address.name).view}_check_${randomUUID().slice(0, 8)}`;
  const findings: string[] = [];
  const may = async (what: string, remedy: string, done: () => Promise<unknown>): Promise<void> => {
    try {
      await done();
    } catch (error) {
      findings.push(
        `The server does not allow the graph to ${what} (${messageOf(error)}): ${remedy}.`,
      );
    }
  };
  await may("create constraints", "grant its user the right to manage constraints", async () => {
    await server.command(
      `CREATE CONSTRAINT \`${label}\` FOR (n:\`${label}\`) REQUIRE n.urn IS UNIQUE`,
    );
    await server.command(`DROP CONSTRAINT \`${label}\``);
  });
  await may("write", "grant its user the right to write, and allow writes on the server", () =>
    server.write((transaction) =>
      transaction.run(`CREATE (n:\`${label}\` {urn: ''}) DELETE n`, {}),
    ),
  );
  return findings;
}

const MEBIBYTE = 1024 * 1024;
/** Memory for a large batch of the projector. */
const TRANSACTION_BYTES_MIN = 128 * MEBIBYTE;

/** Empty if the user may not read the settings. */
async function memoryFindings(server: Neo4jServer): Promise<readonly string[]> {
  let rows: readonly (readonly unknown[])[];
  try {
    rows = await server.command(
      "SHOW SETTINGS 'db.memory.transaction.max', 'dbms.memory.transaction.total.max' YIELD name, value RETURN name, value",
    );
  } catch {
    return [];
  }
  return rows.flatMap(([name, value]) => {
    const bytes = bytesOf(String(value));
    if (bytes === undefined || bytes === 0 || bytes >= TRANSACTION_BYTES_MIN) return [];
    return [
      `${name} is ${value}: batches that need more are halved, which is slow. Set it to at least ${TRANSACTION_BYTES_MIN / MEBIBYTE}MiB, or to 0 for no limit.`,
    ];
  });
}

/** 128.00MiB → bytes. */
function bytesOf(text: string): number | undefined {
  const found = /^([\d.]+)\s*(B|KiB|MiB|GiB)?$/.exec(text);
  if (found === null) return undefined;
  const unit = ["B", "KiB", "MiB", "GiB"].indexOf(found[2] ?? "B");
  return Number(found[1]) * 1024 ** unit;
}
