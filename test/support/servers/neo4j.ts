/** Neo4j's database with its Bolt connector; Neo4jServer.java starts it. */

import { existsSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { classArchive, classPath, launcherJar, shortLived } from "./java-program.ts";
import { fromPackage, javaHome } from "./maven-packages.ts";
import type { ServerKind, ServerPlace } from "./server-kind.ts";
import { exchange } from "./tcp-exchange.ts";

const version = "5.26.25";
const password = "annals-test";
const launcher = fileURLToPath(new URL("Neo4jServer.java", import.meta.url));
/** PEM text of the certificate to trust. */
export const certificateFile = fileURLToPath(
  new URL("../eventstoredb-server/test-server.crt", import.meta.url),
);
const keyFile = fileURLToPath(new URL("../eventstoredb-server/test-server.key", import.meta.url));
const keysOf = ({ folder }: ServerPlace): string => join(folder, "keys");
const opened = ["java.nio", "java.io", "sun.nio.ch", "java.util.concurrent"];

export async function neo4j(): Promise<ServerKind> {
  return {
    ...fromPackage({
      name: "neo4j",
      version,
      coordinates: [`org.neo4j:neo4j:${version}`, `org.neo4j:neo4j-bolt:${version}`],
    }),
    portCount: 1,
    archive: async (program) => classArchive(program, await launcherJar(program, launcher)),

    async prepare(place) {
      await mkdir(keysOf(place));
      await copyFile(certificateFile, join(keysOf(place), "public.crt"));
      await copyFile(keyFile, join(keysOf(place), "private.key"));
      return [];
    },

    async command(place) {
      const { program, folder, ports } = place;
      return {
        file: join(await javaHome(), "bin", "java"),
        args: [
          ...[...shortLived, ...place.javaFlags, "-Xms256m", "-Xmx768m"],
          ...opened.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
          ...[
            "-cp",
            await classPath(program, await launcherJar(program, launcher)),
            "Neo4jServer",
            join(folder, "data"),
            String(ports[0]),
            password,
            keysOf(place),
          ],
        ],
      };
    },

    // The handshake of Bolt: a ready server chooses one of the offered versions.
    async isReady({ folder, ports }) {
      if (!existsSync(join(folder, "data", "password-is-set"))) return false;
      const offer = Buffer.from(`6060b01700080805${"00000000".repeat(3)}`, "hex");
      const chosen = await exchange(ports[0], offer, 4);
      return chosen.readUInt32BE() !== 0;
    },

    url: ({ ports }) => `bolt://neo4j:${password}@127.0.0.1:${ports[0]}`,
  };
}
