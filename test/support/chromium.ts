/** Chromium, and the browser application that tests open in it. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";

const programs = ["chromium", "chromium-browser", "google-chrome"];
const builder = fileURLToPath(new URL("../../src/build-web.mjs", import.meta.url));
const annals = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));

/** The records of the sample. */
export const samplePath = fileURLToPath(new URL("../data/sample/catalog.json", import.meta.url));

/** Path of Chromium; undefined on a machine without it. */
export const browserPath = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => programs.map((program) => join(folder, program)))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Builds the application if its sources have changed, and starts Chromium. */
export async function startChromium(): Promise<Browser> {
  await promisify(execFile)(process.execPath, [builder, "--if-changed"]);
  return await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
}

/** Ingests the sample by the command line, as the admin of the data directory. */
export async function ingestSample(
  service: { readonly address: string; readonly directory: string },
  args: readonly string[] = [],
): Promise<void> {
  const token = join(service.directory, "operator.token");
  const common = [annals, "ingest", "--server", service.address, "--token-file", token];
  await promisify(execFile)(process.execPath, [...common, ...args, samplePath]);
}
