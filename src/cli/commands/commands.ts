/** Every command but `serve`: their arguments, flags and help. */
import { type Command, Option } from "commander";
import type { Config, Flags } from "../../config/config.ts";
import type { Command as CommandName } from "../../config/settings.ts";
import { position } from "../../core/position.ts";
import { tokenDurations } from "../../lib/token-durations.ts";
import { limit, wholeNumber } from "../arguments.ts";
import { connectionOf, operatorConnectionOf } from "../client/connection.ts";
import { createOperatorClient } from "../client/operator-client.ts";
import { addCommonFlags, type CommonFlags, serverOption, serverUrl } from "../client/session.ts";
import { unlessStuck } from "../client/stuck-views.ts";
import { operatorTokenOf, tokenIn } from "../client/token-file.ts";
import { asUsage, type ExitCode } from "../failure.ts";
import type { ProcessOperations } from "../operations.ts";
import { commandOutput } from "../terminal/output.ts";
import {
  addOutputFlags,
  formatsWithoutUrns,
  type OutputFlags,
  outputFormats,
  outputOf,
} from "../terminal/output-flags.ts";
import { interrupted } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { backUp } from "./backup.ts";
import { addCatalogCommands } from "./catalog/catalog-commands.ts";
import { ingest } from "./catalog/ingest.ts";
import { check } from "./check.ts";
import { copyLog } from "./copy-log.ts";
import { printLog } from "./log.ts";
import { addOperatorCommands } from "./operations/operator-commands.ts";
import { rebuild, rebuildRunning } from "./operations/rebuild.ts";
import { createToken, type TokenOptions } from "./operations/token.ts";
import { verify, verifyRunning } from "./operations/verify.ts";
import { printSettings } from "./settings.ts";
import { configOf, exitCodesHelp, loggerOf, settingsCommand } from "./settings-command.ts";

interface CommandsParts {
  readonly operations: ProcessOperations;
  readonly terminal: Terminal;
  /** Gets the exit code of the command that runs. */
  readonly finish: (code: ExitCode) => void;
}

export function addCommands(
  program: Command,
  { operations, terminal, finish }: CommandsParts,
): void {
  const ingestion = program
    .command("ingest <file...>")
    .alias("import")
    .helpGroup(catalogGroup)
    .description("send records from files to a running catalog; - is stdin")
    .option("--run-id <id>", "run id of every record (default: its own, or a new one)")
    .addOption(limit("--batch <records>", "records in one request", 500, 10_000))
    .addOption(limit("--concurrency <requests>", "requests under way at a time", 4, 64))
    .addHelpText("after", ingestHelp)
    .action(async (files: readonly string[], options: IngestFlags) => {
      const connection = asUsage(() => connectionOf(options));
      const signal = interrupted();
      const asked = { ...options, files, ...connection, output: outputOf(options) };
      finish(await ingest(asked, { terminal, signal }));
    });
  addCommonFlags(ingestion, formatsWithoutUrns);

  settingsCommand(program, "rebuild")
    .argument("[views...]", "views to rebuild (default: all)")
    .description("rebuild views from the log; stop the service first, or name it with --server")
    .addOption(
      new Option(
        "--server <url>",
        "URL of a running service, which then runs the command",
      ).argParser(serverUrl),
    )
    .option("--token-file <file>", shownToken)
    .action(async (views: readonly string[], options: ServerFlags) => {
      const { server, tokenFile, output, json, quiet, ...flags } = options;
      const config = configOf(flags);
      const writer = commandOutput({ output, json, quiet }, terminal);
      if (server !== undefined) {
        const connection = { server, token: shownTokenOf(config, tokenFile) };
        const client = createOperatorClient(server, connection.token);
        finish(await unlessStuck(await rebuildRunning(views, { client, ...writer }), connection));
        return;
      }
      const logger = loggerOf(config, quiet);
      const parts = { ...writer, operations, logger, signal: interrupted() };
      finish(await rebuild(config, views, parts));
    });

  settingsCommand(program, "verify", { formats: outputFormats })
    .argument("[views...]", "views to compare (default: all)")
    .description("compare views with the log; stop the service first, or name it with --server")
    .addOption(
      new Option("--grade <grade>", "accepted and ignored: all rows are compared")
        .choices(["full", "whole", "quick"])
        .hideHelp(),
    )
    .option("--repair", "repair differences", false)
    .addOption(
      new Option(
        "--server <url>",
        "URL of a running service, which then runs the command",
      ).argParser(serverUrl),
    )
    .option("--token-file <file>", shownToken)
    .action(async (views: readonly string[], options: VerifyFlags) => {
      const { repair, server, tokenFile, output, json, quiet, ...flags } = options;
      const config = configOf(flags);
      const asked = { views, repair };
      const writer = commandOutput({ output, json, quiet }, terminal);
      if (server !== undefined) {
        const connection = { server, token: shownTokenOf(config, tokenFile) };
        const client = createOperatorClient(server, connection.token);
        finish(await unlessStuck(await verifyRunning(asked, { client, ...writer }), connection));
        return;
      }
      finish(
        await verify(config, asked, { ...writer, operations, logger: loggerOf(config, quiet) }),
      );
    });

  settingsCommand(program, "log", { formats: outputFormats })
    .description("print changes of the log as JSON lines, also while the service runs")
    .addOption(new Option("--from <position>", "start after this position").argParser(wholeNumber))
    .addOption(limit("--limit <records>", "maximum number of changes", undefined))
    .option("--stream <name>", "only of this stream, such as entity-urn:li:corpuser:jdoe")
    .option("--backward", "newest first, from --from or the end of the log", false)
    .addHelpText("after", logHelp)
    .action(async (options: LogFlags) => {
      const { from, limit, stream, backward, output, json, quiet, ...flags } = options;
      const writer = commandOutput({ output, json, quiet }, terminal);
      const query = {
        from: from === undefined ? undefined : position(from),
        limit: limit ?? Number.MAX_SAFE_INTEGER,
        stream,
        backward,
      };
      finish(await printLog(configOf(flags), query, { ...writer, operations }));
    });

  settingsCommand(program, "backup")
    .description("copy the log and the keys of a data directory, also while the service runs")
    .requiredOption("--to <directory>", "new directory, which a service can start on")
    .addHelpText("after", backupHelp)
    .action(async ({ to, output, json, quiet, ...flags }: CopyFlags) => {
      const writer = commandOutput({ output, json, quiet }, terminal);
      const parts = { ...writer, operations, signal: interrupted() };
      finish(await backUp(configOf(flags), to, parts));
    });

  settingsCommand(program, "copy-log")
    .description(
      "copy the log into another store; stop the services on both data directories first",
    )
    .requiredOption("--to <place>", copyHelp)
    .addHelpText("after", copyMoreHelp)
    .action(async ({ to, output, json, quiet, ...flags }: CopyFlags) => {
      const writer = commandOutput({ output, json, quiet }, terminal);
      finish(await copyLog(configOf(flags), to, { ...writer, operations }));
    });

  settingsCommand(program, "check")
    .description("check whether every configured store can be used")
    .option(
      "--repair-indexes",
      "verify the checksums of the embedded log's rows, then rebuild its indexes; stop the service first",
      false,
    )
    .action(async ({ repairIndexes, output, json, quiet, ...flags }: CheckFlags) => {
      const writer = commandOutput({ output, json, quiet }, terminal);
      finish(await check(configOf(flags), { repairIndexes }, { ...writer, operations }));
    });

  program.commandsGroup(catalogGroup);
  const tokens = program.command("token").description("access tokens of a running catalog");
  settingsCommand(tokens, "create", { of: "token" })
    .description("create an access token as the root user; it is shown only once")
    .addOption(serverOption())
    .option(
      "--token-file <file>",
      "file with an access token (default: the admin token of the data directory)",
    )
    .requiredOption("--name <name>", "name of the token")
    .option("--description <text>", "description of the token")
    .addOption(
      new Option("--duration <duration>", "lifetime").choices(tokenDurations).default("ONE_MONTH"),
    )
    .option("--actor <urn>", "user of the token (default: the root user)")
    .action(async ({ name, description, duration, actor, ...given }: TokenFlags) => {
      const { server, tokenFile, output, json, quiet, ...flags } = given;
      const config = configOf(flags);
      const connection = asUsage(() => operatorConnectionOf({ ...flags, server, tokenFile }));
      const asked = { name, description, duration, actor, ...connection };
      const writer = commandOutput({ output, json, quiet }, terminal);
      finish(await unlessStuck(await createToken(config, asked, writer), connection));
    });

  addCatalogCommands(program, { tokens, terminal, finish, exitCodesHelp });
  program.commandsGroup("Operation of a running service:");
  addOperatorCommands(program, {
    terminal,
    finish,
    settingsCommand: (parent, name, options) => {
      // The commands below a command have its settings.
      const of = (parent === program ? name : parent.name()) as CommandName;
      return settingsCommand(parent, name, { ...options, of });
    },
  });

  program.commandsGroup("Service and data directory:");
  const listed = program
    .command("settings")
    .description("print every setting with its value and its source")
    .option("--markdown", "print the table of settings of docs/settings.md", false)
    .addHelpText("after", exitCodesHelp)
    .action(async (flags: OutputFlags & { readonly markdown: boolean }) =>
      printSettings(flags, commandOutput(flags, terminal)),
    );
  addOutputFlags(listed, formatsWithoutUrns);
}

const catalogGroup = "Catalog of a running service:";

interface IngestFlags extends CommonFlags {
  readonly runId?: string;
  readonly batch: number;
  readonly concurrency: number;
}

type TokenFlags = ServerFlags & Omit<TokenOptions, "server" | "token">;

const shownToken =
  "with --server: file with an access token (default: the admin token of the data directory)";

const shownTokenOf = (config: Config, file: string | undefined): string =>
  file === undefined
    ? operatorTokenOf(config)
    : tokenIn(file, "Name another file with --token-file");

type ServerFlags = Flags & OutputFlags & { readonly server?: string; readonly tokenFile?: string };
type VerifyFlags = ServerFlags & { readonly repair: boolean };
type CopyFlags = Flags & OutputFlags & { readonly to: string };
type CheckFlags = Flags & OutputFlags & { readonly repairIndexes: boolean };

interface LogFlags extends Flags, OutputFlags {
  readonly from?: number;
  readonly limit?: number;
  readonly stream?: string;
  readonly backward: boolean;
}

const backupHelp = `
The copy has every write that was acknowledged before the command started. It gets its name only when it is complete and
verified. It has no views: the first start on the copy builds them.`;

const copyMoreHelp = `
A log in a server can be copied while nodes write to it: use another --data than theirs. A repeated copy adds
the later records. Nothing else may write to the target log.`;

const logHelp = `
Only changes of entities are printed and counted by --limit. The positions have gaps, because the log also has
jobs, the audit trail, parked records and schemas.`;

const copyHelp = `a data directory, "embedded" for that of --data, or the URL of an EventStoreDB (esdb://localhost:2113?tls=false)`;

const ingestHelp = `
A file is a JSON array of records or has a record in each line. A record is a proposal or a legacy
snapshot. Records of one urn are sent in the order of the files. Each rejected record is
reported in a line on stderr.
${exitCodesHelp}`;
