/**
 * The browser application of a service: its files, and its build in a clone. The build runs in a process of low
 * priority after the service listens.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config/config.ts";
import { watchWebFiles } from "../http/web/web-files.ts";
import type { WebApp, WebBuild } from "../http/web/web-routes.ts";
import type { Logger } from "../telemetry/logger.ts";

interface OpenedWebApp {
  readonly app: WebApp;
  /** Starts the build if the configuration asks for it; does not wait for it. */
  build(): void;
  /** Ends a running build. */
  close(): void;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const builder = join(root, "src/build-web.mjs");
/** Only a clone has the builder; the package contains the built application. */
const isClone = existsSync(builder);
const folder = join(root, isClone ? "dist/web" : "web");

/** Output of a failed build that is shown. */
const outputCharactersMax = 4_000;

/** Undefined if the application is disabled. */
export function openWebApp(
  config: Pick<Config, "web">,
  logger: Pick<Logger, "info" | "error">,
): OpenedWebApp | undefined {
  if (config.web === "off") return undefined;
  let state: WebBuild = { building: config.web === "build" && isClone };
  let child: ChildProcess | undefined;

  const end = (failure: string | undefined): void => {
    child = undefined;
    state = { building: false, failure };
    if (failure !== undefined) logger.error({ output: failure }, "cannot build the browser page");
  };

  return {
    app: { files: watchWebFiles(folder), build: () => state },
    build() {
      if (!state.building) return;
      let output = "";
      const started = spawn(process.execPath, [builder, "--if-changed"], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      child = started;
      if (started.pid !== undefined) setPriority(started.pid, constants.priority.PRIORITY_LOW);
      started.stderr.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(0, outputCharactersMax);
      });
      started.once("error", (error) => end(error.message));
      started.once("close", (code) => {
        if (child === started) end(code === 0 ? undefined : output);
      });
    },
    close() {
      const running = child;
      child = undefined;
      running?.kill();
    },
  };
}
