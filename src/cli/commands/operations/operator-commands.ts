/**
 * The commands that operate a running service: their flags and help. All ask with the operator's
 * token of a data directory, or with one from a file.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Flags } from "../../../config/config.ts";
import { limit } from "../../arguments.ts";
import { operatorConnectionOf } from "../../client/connection.ts";
import { createOperatorClient } from "../../client/operator-client.ts";
import { serverOption } from "../../client/session.ts";
import { unlessStuck } from "../../client/stuck-views.ts";
import { type ExitCode, UsageError } from "../../failure.ts";
import { commandOutput } from "../../terminal/output.ts";
import {
  formatsWithoutUrns,
  type OutputFlags,
  type OutputFormat,
  outputFormats,
} from "../../terminal/output-flags.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { cancelJob, listJobs, showJob, watchJob } from "./jobs.ts";
import { listParked, settleParked } from "./parked.ts";
import { instantOf, restore, scavenge, truncate } from "./repair.ts";
import { showStatus } from "./status.ts";

interface OperatorCommandsParts {
  readonly terminal: Terminal;
  readonly finish: (code: ExitCode) => void;
  /** A command with flags for the settings that name the file of the admin token, and for its output. */
  readonly settingsCommand: (
    parent: Command,
    name: string,
    options: { readonly isDefault: boolean; readonly formats: readonly OutputFormat[] },
  ) => Command;
}

type Common = Flags & OutputFlags & { readonly server?: string; readonly tokenFile?: string };

export function addOperatorCommands(program: Command, parts: OperatorCommandsParts): void {
  const command = (parent: Command, name: string, about: string): Command =>
    parts
      .settingsCommand(parent, name, {
        isDefault: name === "list",
        formats: parent.name() === "parked" ? outputFormats : formatsWithoutUrns,
      })
      .description(about)
      .addOption(serverOption())
      .option(
        "--token-file <file>",
        "file with an access token (default: the admin token of the data directory)",
      );
  const around = ({ json, output, quiet, ...flags }: Common) => {
    const connection = operatorConnectionOf(flags);
    const client = createOperatorClient(connection.server, connection.token);
    return { client, connection, ...commandOutput({ json, output, quiet }, parts.terminal) };
  };
  const finish = async (
    options: Common,
    work: (asked: ReturnType<typeof around>) => Promise<ExitCode>,
  ): Promise<void> => {
    const asked = around(options);
    parts.finish(await unlessStuck(await work(asked), asked.connection));
  };

  command(
    program,
    "status",
    "show the status of log and views; exits with 1 when one does not work",
  ).action(async (options: Common) => parts.finish(await showStatus(around(options))));

  const jobs = program.command("jobs").description("jobs of a running catalog");
  command(jobs, "list", "list jobs, the newest first")
    .addOption(limit("--count <jobs>", "maximum number", 20, 200))
    .action(async ({ count, ...options }: Common & { count: number }) =>
      finish(options, (asked) => listJobs(count, asked)),
    );
  const oneJob = (name: string, about: string, act: typeof showJob) =>
    command(jobs, name, about)
      .argument("<job>", "id of the job")
      .action(async (id: string, options: Common) => finish(options, (asked) => act(id, asked)));
  oneJob("show", "show a job", showJob);
  oneJob("watch", "follow a job to its end; exits with 0 if it succeeded, else with 1", watchJob);
  oneJob("cancel", "cancel a job", cancelJob);

  const parked = program
    .command("parked")
    .description("entities with a record that a view of a running catalog could not apply");
  command(parked, "list", "list parked entities and their causes")
    .option("--view <view>", "only of this view")
    .addOption(limit("--count <entities>", "maximum number", 100, 200))
    .action(async ({ view, count, ...options }: Common & { view?: string; count: number }) =>
      finish(options, (asked) => listParked({ view, count }, asked)),
    );
  const oneParked = (name: "retry" | "drop", about: string) =>
    command(parked, name, about)
      .argument("<view>", "view in which the entity is parked")
      .argument("<urn>", "urn of the entity")
      .action(async (view: string, urn: string, options: Common) =>
        finish(options, (asked) => settleParked(`${name}Parked`, { view, urn }, asked)),
      );
  oneParked("retry", "project a parked entity again");
  oneParked("drop", "omit the record permanently, and project the entity without it");

  addRepairs();

  function addRepairs(): void {
    command(program, "restore", "restore entities in the views from the log")
      .option("--urn <urn>", "only this entity")
      .option("--urn-like <pattern>", "entities whose urn is LIKE this pattern (% is any text)")
      .option("--aspect <name...>", "only rows of these aspects")
      .addOption(limit("--start <rows>", "number of rows to skip"))
      .addOption(limit("--limit <rows>", "maximum number of rows"))
      .addOption(limit("--batch-size <rows>", "rows of one batch", undefined, 10_000))
      .option("--no-wait", "print the id of the job without waiting for its end")
      .action(async (given: Common & RestoreFlags) => {
        const { urn, urnLike, aspect, start, limit, batchSize, wait, ...options } = given;
        if (urn === undefined && urnLike === undefined) {
          throw new UsageError("Name an entity with --urn, or several with --urn-like");
        }
        const asked = { urn, urnLike, aspectNames: aspect, start, limit, batchSize };
        await finish(options, (on) => restore(asked, { ...on, wait }));
      });

    command(program, "truncate", "delete events of a timeseries aspect that are older than a time")
      .argument("<entity type>", "entity type, such as dataset, in any letter case")
      .argument("<aspect>", "aspect, such as datasetProfile, in any letter case")
      .addOption(
        new Option(
          "--before <time>",
          "time, such as 2026-01-01, 2026-01-01T12:00:00Z or epoch milliseconds",
        )
          .argParser(instant)
          .makeOptionMandatory(),
      )
      .option("--run", "delete; without it, only count", false)
      .option("--no-wait", "print the id of the job without waiting for its end")
      .action(async (entityType: string, aspect: string, given: Common & TruncateFlags) => {
        const { before, run, wait, ...options } = given;
        const asked = { entityType, aspect, endTimeMillis: before, run };
        await finish(options, (on) => truncate(asked, { ...on, wait }));
      });

    command(program, "scavenge", "remove truncated events permanently from the log")
      .option("--run", "remove; without it, only count", false)
      .option("--no-wait", "print the id of the job without waiting for its end")
      .action(async (given: Common & Omit<TruncateFlags, "before">) => {
        const { run, wait, ...options } = given;
        await finish(options, (on) => scavenge(run, { ...on, wait }));
      });
  }
}

interface RestoreFlags {
  readonly urn?: string;
  readonly urnLike?: string;
  readonly aspect?: readonly string[];
  readonly start?: number;
  readonly limit?: number;
  readonly batchSize?: number;
  readonly wait: boolean;
}

interface TruncateFlags {
  readonly before: number;
  readonly run: boolean;
  readonly wait: boolean;
}

function instant(given: string): number {
  const time = instantOf(given);
  if (time !== undefined) return time;
  throw new InvalidArgumentError("It is a date like 2026-01-01, or epoch milliseconds.");
}
