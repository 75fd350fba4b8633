/**
 * Elasticsearch's core: the real server without most of its modules (no scripts, no update or delete
 * by query, no language analyzers). It does not run as root.
 */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { answersHealthy } from "./cluster-health.ts";
import { shortLived } from "./java-program.ts";
import { fromPackage, javaHome } from "./maven-packages.ts";
import type { ServerKind, ServerPlace } from "./server-kind.ts";

const version = "8.19.0";

const home = ({ folder }: ServerPlace): string => join(folder, "home");
const temporary = ({ folder }: ServerPlace): string => join(folder, "temporary");

export async function elasticsearch(): Promise<ServerKind> {
  return {
    ...fromPackage({
      name: "elasticsearch",
      version,
      coordinates: [`org.elasticsearch.distribution.integ-test-zip:elasticsearch:${version}:zip`],
    }),
    version: `${version} core`,
    portCount: 2,
    rejectsRoot: true,

    // A copy: the server writes into its own folder, and its user may not read the original.
    async prepare(place) {
      await cp(join(place.program, `elasticsearch-${version}`), home(place), { recursive: true });
      await mkdir(temporary(place));
      return [];
    },

    async command(place) {
      const settings = {
        "discovery.type": "single-node",
        "xpack.security.enabled": false,
        "network.host": "127.0.0.1",
        "http.port": place.ports[0],
        "transport.port": place.ports[1],
        "path.data": join(place.folder, "data"),
        "path.logs": join(place.folder, "logs"),
        "cluster.routing.allocation.disk.threshold_enabled": false,
      };
      return {
        file: join(home(place), "bin", "elasticsearch"),
        args: Object.entries(settings).flatMap(([key, value]) => ["-E", `${key}=${value}`]),
        environment: {
          ES_JAVA_HOME: await javaHome(),
          ES_JAVA_OPTS: [
            "-Xms512m",
            "-Xmx512m",
            "-XX:-UseG1GC",
            "-XX:-AlwaysPreTouch",
            ...shortLived,
          ].join(" "),
          CLI_JAVA_OPTS: "-XX:TieredStopAtLevel=1",
          ES_TMPDIR: temporary(place),
        },
      };
    },

    isReady: ({ ports }) => answersHealthy(ports[0]),
    url: ({ ports }) => `http://127.0.0.1:${ports[0]}`,
  };
}
