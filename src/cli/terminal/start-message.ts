/** The lines that `annals serve` prints for a person once it is ready. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { requiresTokens } from "../../config/addresses.ts";
import type { Config } from "../../config/config.ts";
import { defaultOf, flagOf } from "../../config/settings.ts";
import { ownCommand } from "../../lib/command-hint.ts";

/** Address of the pages, how to load the sample, where the token is, how to stop. */
export function startMessage(config: Config, address: string): string {
  const token = config.operatorTokenFile || join(config.data, "operator.token");
  const needsToken = requiresTokens(config);
  const isDefault = address === `http://${defaultOf("host")}:${defaultOf("port")}`;
  const flags = [
    ...(isDefault ? [] : [`--server ${address}`]),
    ...(needsToken ? [`--token-file ${fromHere(token)}`] : []),
  ];
  const sample = sampleFile();
  const rows = [
    ...(config.web === "off" ? [] : [["Catalog", address]]),
    ["Documentation", `${address}/restli/docs`],
    ["Status", `${address}/status`],
    ...(needsToken ? [["First token", `in the file ${fromHere(token)}`]] : []),
    ...(sample === undefined
      ? []
      : [["Load the sample", ownCommand(["ingest", ...flags, fromHere(sample)].join(" "))]]),
    [
      "Stop",
      `Ctrl-C (the catalog stays in ${fromHere(config.data)}; ${flagOf("data")} names another directory)`,
    ],
  ];
  return rows.map(([name = "", value]) => `  ${name.padEnd(15)}  ${value}`).join("\n");
}

/** Records to try the catalog with: a clone keeps them among its test data. */
const SAMPLES = ["../../../sample/catalog.json", "../../../test/data/sample/catalog.json"];

function sampleFile(): string | undefined {
  const files = SAMPLES.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return files.find((file) => existsSync(file));
}

/** The shorter of the relative and the absolute path. */
function fromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.length < path.length ? short : path;
}
