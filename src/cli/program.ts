/**
 * The command line: which commands there are, their flags and help. Parses, calls one command, and
 * turns what went wrong into a sentence and an exit code.
 */
import { delimiter } from "node:path";
import { Command, CommanderError, Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { type Config, type Flags, readConfig } from "../config/config.ts";
import {
  type Command as CommandName,
  defaultOf,
  flagOf,
  type SettingKey,
  settingKeys,
  settings,
  variableOf,
} from "../config/settings.ts";
import { isBuilt, ownCommand, startCommand } from "../core/own-command.ts";
import { position } from "../core/position.ts";
import { tokenDurations } from "../core/token-durations.ts";
import { createLogger, type LogFormat, type Logger } from "../telemetry/logger.ts";
import { limit, wholeNumber } from "./arguments.ts";
import { backUp } from "./backup.ts";
import { addCatalogCommands } from "./catalog-commands.ts";
import { check } from "./check.ts";
import { connectionOf, operatorConnectionOf } from "./connection.ts";
import { copyLog } from "./copy-log.ts";
import {
  asUsage,
  describeFailure,
  type ExitCode,
  exitCodeOf,
  exitCodes,
  UsageError,
} from "./failure.ts";
import { ingest } from "./ingest.ts";
import { printLog } from "./log.ts";
import type { Operations, VerifyGrade } from "./operations.ts";
import { createOperatorClient } from "./operator-client.ts";
import { addOperatorCommands } from "./operator-commands.ts";
import {
  addOutputFlags,
  commandOutput,
  formatsWithoutUrns,
  type OutputFlags,
  type OutputFormat,
  outputFormats,
  outputOf,
} from "./output.ts";
import { rebuild, rebuildRunning } from "./rebuild.ts";
import { serve } from "./serve.ts";
import { addCommonFlags, type CommonFlags, serverOption, serverUrl } from "./session.ts";
import { printSettings } from "./settings.ts";
import { interrupted } from "./signals.ts";
import { unlessStuck } from "./stuck-views.ts";
import { openTerminal } from "./terminal.ts";
import { createToken, type TokenOptions } from "./token.ts";
import { operatorTokenOf, tokenIn } from "./token-file.ts";
import { verify, verifyGrades, verifyRunning } from "./verify.ts";

const exitCodesHelp = `
Exit codes:
  ${exitCodes.done}  done; of serve: stopped by a signal
  ${exitCodes.failed}  failed, or some of the records did
  ${exitCodes.usage}  not run: the command line, a setting, or what one of them names is wrong
  ${exitCodes.interrupted}  ended by Ctrl-C; the message names the command that resumes or reverts`;

/** Runs the command that the arguments name. Never throws. */
export async function runProgram(
  args: readonly string[],
  operations: Operations,
): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram(operations, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has told its own errors, with the nearest flag, and shown the help it was asked for.
    if (error instanceof CommanderError) {
      if (error.code === "commander.excessArguments") process.stderr.write(lostFlag(args));
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    }
    process.stderr.write(`${describeFailure(error)}\n`);
    return exitCodeOf(error);
  }
}

/** npm removes the flag of `npm start --port 8081` and leaves the 8081; npx leaves both. */
function lostFlag(args: readonly string[]): string {
  const [command = "", ...values] = args;
  const value = values.at(-1);
  if (isBuilt || value === undefined || args.some((given) => given.startsWith("-"))) return "";
  const flag = /^https?:/.test(value) ? "--server" : /^\d+$/.test(value) ? "--port" : "--data";
  const meant =
    command === "serve"
      ? `${startCommand} -- ${flag} ${value}`
      : ownCommand(`${command} ${flag} ${value}`);
  return `npm takes flags for its own unless two hyphens stand before them. Was this meant: ${meant}\n`;
}

/** The whole tree of commands. `finish` gets the exit code of the command that runs. */
export function createProgram(operations: Operations, finish: (code: ExitCode) => void): Command {
  const terminal = openTerminal();
  const program = new Command("annals")
    .description(packageJson.description)
    .version(packageJson.version, "--version", "print the version")
    .helpOption("-h, --help", "print this help, or that of a command")
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError("Add -h to see the arguments and options")
    .exitOverride()
    .addHelpText("after", exitCodesHelp);

  program.commandsGroup("Service and data directory:");
  settingsCommand(program, "serve", { formats: ["table", "json"] })
    .description("run the catalog until a signal stops it")
    .addHelpText("after", serveHelp)
    .action(async ({ output, json, quiet, ...flags }: Flags & OutputFlags) => {
      const isJson = outputOf({ output, json }) === "json";
      if (isJson && (flags.logFormat ?? "json") !== "json") {
        throw new UsageError(`Use either --json or --log-format ${flags.logFormat}`);
      }
      const config = configOf(isJson ? { ...flags, logFormat: "json" } : flags);
      const forPeople = logFormatOf(config) === "text" && !quiet;
      const logger = loggerOf(config, quiet);
      finish(await serve(config, { operations, terminal, logger, forPeople }));
    });

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
    .argument("[views...]", "views to grow again (default: all)")
    .description("grow views again from the log; without --server no service may run")
    .addOption(new Option("--server <url>", "ask a running service to do it").argParser(serverUrl))
    .option("--token-file <file>", shownToken)
    .action(async (views: readonly string[], options: ServerFlags) => {
      const { server, tokenFile, output, json, quiet, ...flags } = options;
      const config = configOf(flags);
      const writer = commandOutput({ output, json, quiet }, terminal);
      if (server !== undefined) {
        const client = createOperatorClient(server, shownTokenOf(config, tokenFile));
        const on = { client, ...writer };
        finish(await unlessStuck(await rebuildRunning(views, on), on));
        return;
      }
      const logger = loggerOf(config, quiet);
      const parts = { ...writer, operations, logger, signal: interrupted() };
      finish(await rebuild(config, views, parts));
    });

  settingsCommand(program, "verify", { formats: outputFormats })
    .argument("[views...]", "views to compare (default: all)")
    .description(
      "compare views with the log, entity by entity; without --server no service may run",
    )
    .addOption(
      new Option(
        "--grade <grade>",
        "full folds all of the log, whole looks at every row, quick at what was written since",
      )
        .choices(verifyGrades)
        .default("full"),
    )
    .option("--repair", "restore what differs from the log", false)
    .addOption(new Option("--server <url>", "ask a running service to do it").argParser(serverUrl))
    .option("--token-file <file>", shownToken)
    .action(async (views: readonly string[], options: VerifyFlags) => {
      const { repair, grade, server, tokenFile, output, json, quiet, ...flags } = options;
      const config = configOf(flags);
      const asked = { views, repair, grade };
      const writer = commandOutput({ output, json, quiet }, terminal);
      if (server !== undefined) {
        const client = createOperatorClient(server, shownTokenOf(config, tokenFile));
        const on = { client, ...writer };
        finish(await unlessStuck(await verifyRunning(asked, on), on));
        return;
      }
      finish(
        await verify(config, asked, { ...writer, operations, logger: loggerOf(config, quiet) }),
      );
    });

  settingsCommand(program, "log", { formats: outputFormats })
    .description("print changes of the log as JSON lines; the service may run")
    .addOption(new Option("--from <position>", "after this position").argParser(wholeNumber))
    .addOption(limit("--limit <records>", "print at most so many", undefined))
    .option("--stream <name>", "of one stream only, like entity-urn:li:corpuser:jdoe")
    .option("--backward", "the newest first, from --from or the end of the log", false)
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
    .description("copy the log and the keys of a data directory; the service may run")
    .requiredOption("--to <directory>", "new directory, which a service can start on")
    .addHelpText("after", backupHelp)
    .action(async ({ to, output, json, quiet, ...flags }: CopyFlags) => {
      const writer = commandOutput({ output, json, quiet }, terminal);
      const parts = { ...writer, operations, signal: interrupted() };
      finish(await backUp(configOf(flags), to, parts));
    });

  settingsCommand(program, "copy-log")
    .description(
      "copy the log into another store; no service may run on a data directory that is read or written",
    )
    .requiredOption("--to <place>", copyHelp)
    .addHelpText("after", copyMoreHelp)
    .action(async ({ to, output, json, quiet, ...flags }: CopyFlags) => {
      const writer = commandOutput({ output, json, quiet }, terminal);
      finish(await copyLog(configOf(flags), to, { ...writer, operations }));
    });

  settingsCommand(program, "check")
    .description("ask every store that is configured whether it can be used")
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
    .description("create an access token, as the root user; it is printed this once")
    .addOption(serverOption())
    .option(
      "--token-file <file>",
      "file with an access token to show instead of the operator's token",
    )
    .requiredOption("--name <name>", "what it is for")
    .option("--description <text>", "more about it")
    .addOption(
      new Option("--duration <duration>", "how long it lives")
        .choices(tokenDurations)
        .default("ONE_MONTH"),
    )
    .option("--actor <urn>", "the user that it acts for (default: the root user)")
    .action(async ({ name, description, duration, actor, ...given }: TokenFlags) => {
      const { server, tokenFile, output, json, quiet, ...flags } = given;
      const config = configOf(flags);
      const connection = asUsage(() => operatorConnectionOf({ ...flags, server, tokenFile }));
      const asked = { name, description, duration, actor, ...connection };
      const writer = commandOutput({ output, json, quiet }, terminal);
      finish(await createToken(config, asked, writer));
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
    .description("print every setting with its value and where that comes from")
    .option("--markdown", "print the table of settings that the README holds", false)
    .addHelpText("after", exitCodesHelp)
    .action(async (flags: OutputFlags & { readonly markdown: boolean }) =>
      printSettings(flags, commandOutput(flags, terminal)),
    );
  addOutputFlags(listed, formatsWithoutUrns);

  return program;
}

const catalogGroup = "Catalog of a running service:";

interface IngestFlags extends CommonFlags {
  readonly runId?: string;
  readonly batch: number;
  readonly concurrency: number;
}

type TokenFlags = ServerFlags & Omit<TokenOptions, "server" | "token">;

const shownToken =
  "with --server: file with an access token to show instead of the operator's token";

const shownTokenOf = (config: Config, file: string | undefined): string =>
  file === undefined
    ? operatorTokenOf(config)
    : tokenIn(file, "Name another file with --token-file");

type ServerFlags = Flags & OutputFlags & { readonly server?: string; readonly tokenFile?: string };
type VerifyFlags = ServerFlags & { readonly repair: boolean; readonly grade: VerifyGrade };
type CopyFlags = Flags & OutputFlags & { readonly to: string };
type CheckFlags = Flags & OutputFlags & { readonly repairIndexes: boolean };

interface LogFlags extends Flags, OutputFlags {
  readonly from?: number;
  readonly limit?: number;
  readonly stream?: string;
  readonly backward: boolean;
}

const serveHelp = `
--output json (--json) is --log-format json. --quiet logs warnings and errors alone, and prints nothing but the
address of the service.`;

const backupHelp = `
The copy has every write that was accepted before the command began. It has its name only after it is complete and
verified. Views are left out: a start on the copy builds them.`;

const copyMoreHelp = `
A log in a server may be copied while nodes write to it: name another --data than theirs. Copied again,
what came since is added. Nobody may write to the log that is copied to.`;

const logHelp = `
What the log holds beside the changes of entities is left out, and not counted by --limit: jobs, the
audit trail, records that views could not take, schemas. So positions have gaps here.`;

const copyHelp = `a data directory, "embedded" for that of --data, or the URL of an EventStoreDB (esdb://localhost:2113?tls=false)`;

const ingestHelp = `
A file is a JSON array of records or has a record in each line. A record is a proposal or a legacy
snapshot. Records about one urn are sent in the order of the files; every record that is refused is
told in a line on stderr.
${exitCodesHelp}`;

/** A command with output flags, and a flag for each setting of the command `of` (default: its name). */
function settingsCommand(
  parent: Command,
  name: string,
  {
    of = name as CommandName,
    formats = formatsWithoutUrns,
    isDefault = false,
  }: {
    readonly of?: CommandName;
    readonly formats?: readonly OutputFormat[];
    readonly isDefault?: boolean;
  } = {},
): Command {
  const command = parent.command(name, { isDefault }).addHelpText("after", exitCodesHelp);
  for (const key of settingKeys) {
    const { kind, about, commands } = settings[key];
    if (!commands.includes(of)) continue;
    const option = new Option(
      `${flagOf(key)} <${kind.placeholder}>`,
      `${about} (default: ${defaultOf(key)}; ${variableOf(key)})`,
    );
    const separator = separators[key];
    if (separator !== undefined) option.argParser(joinedBy(separator));
    command.addOption(option);
  }
  return addOutputFlags(command, formats);
}

/** Separators between the values of a flag that may be repeated. */
const separators: Readonly<Partial<Record<SettingKey, string>>> = {
  modelExtension: delimiter,
  allowedHost: ",",
  corsOrigin: ",",
};

const joinedBy =
  (separator: string) =>
  (value: string, before: string | undefined): string =>
    before === undefined ? value : before + separator + value;

const configOf = (flags: Flags): Config => asUsage(() => readConfig(flags));

/** `isQuiet`: warnings and errors alone, unless the setting asks for less. */
function loggerOf(config: Config, isQuiet: boolean): Logger {
  const level = isQuiet && /^(trace|debug|info)$/.test(config.logLevel) ? "warn" : config.logLevel;
  return createLogger(level, logFormatOf(config));
}

/** Of the log lines on stderr. */
function logFormatOf({ logFormat }: Config): LogFormat {
  if (logFormat !== "auto") return logFormat;
  return process.stderr.isTTY ? "text" : "json";
}
