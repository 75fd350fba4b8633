/** PostgreSQL from the machine's own binaries, which do not run as root. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type ServerKind, type ServerPlace, Unavailable } from "./server-kind.ts";

const run = promisify(execFile);

const user = "annals";
const password = "annals-test";

const data = ({ folder }: ServerPlace): string => join(folder, "data");

export async function postgres(): Promise<ServerKind> {
  const program = binaries();
  const version = await run(join(program, "postgres"), ["--version"]);
  return {
    version: /\d+(\.\d+)*/.exec(version.stdout)?.[0] ?? "",
    portCount: 1,
    rejectsRoot: true,
    stopSignal: "SIGQUIT",
    program: async () => program,

    async prepare(place) {
      await writeFile(join(place.folder, "password"), password, { mode: 0o644 });
      const args = ["-D", data(place), "-U", user, "--encoding=UTF8", "--locale=C", "--no-sync"];
      const rights = ["--auth=scram-sha-256", `--pwfile=${join(place.folder, "password")}`];
      return [{ file: join(program, "initdb"), args: [...args, ...rights] }];
    },

    async command(place) {
      const settings = {
        port: place.ports[0],
        listen_addresses: "127.0.0.1",
        unix_socket_directories: "",
        max_connections: 200,
        shared_buffers: "64MB",
        // Only a crash of the machine could lose data, not a killed process.
        fsync: "off",
      };
      const args = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
      return { file: join(program, "postgres"), args: ["-D", data(place), ...args] };
    },

    async isReady({ ports }) {
      await run(join(program, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(ports[0])]);
      return true;
    },

    url: ({ ports }) => `postgres://${user}:${password}@127.0.0.1:${ports[0]}/postgres`,
  };
}

/** The newest of Debian's parallel versions, else the one on the path. */
function binaries(): string {
  const packaged = "/usr/lib/postgresql";
  const versions = existsSync(packaged) ? readdirSync(packaged) : [];
  const folders = [
    ...versions.sort((a, b) => Number(b) - Number(a)).map((each) => join(packaged, each, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  const found = folders.find(
    (each) => existsSync(join(each, "initdb")) && existsSync(join(each, "postgres")),
  );
  if (found === undefined) throw new Unavailable("the programs of PostgreSQL are not installed");
  return found;
}
