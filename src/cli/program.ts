/**
 * The command line: parses the arguments, runs one command, and turns an error into a message and an
 * exit code. `serve` is defined here, every other command in commands.ts.
 */
import { Command, CommanderError, Help } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import type { Flags } from "../config/config.ts";
import { isBuilt, ownCommand, startCommand } from "../lib/command-hint.ts";
import { serve } from "./commands/serve.ts";
import {
  configOf,
  exitCodesHelp,
  logFormatOf,
  loggerOf,
  settingsCommand,
} from "./commands/settings-command.ts";
import { describeFailure, type ExitCode, exitCodeOf, exitCodes, UsageError } from "./failure.ts";
import type { ProcessOperations } from "./operations.ts";
import { type OutputFlags, outputOf } from "./terminal/output-flags.ts";
import { openTerminal } from "./terminal/terminal.ts";

/** Runs the command that the arguments name. Never throws. */
export async function runProgram(
  args: readonly string[],
  operations: ProcessOperations,
): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const finish = (code: ExitCode): void => {
    exitCode = code;
  };
  try {
    const program = await createProgram(args, operations, finish);
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has already printed its own errors and help.
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

/**
 * The tree of commands. `finish` gets the exit code of the command that runs. For the arguments of
 * `serve` it has that command alone: a start of the service does not load the modules of the others.
 */
export async function createProgram(
  args: readonly string[],
  operations: ProcessOperations,
  finish: (code: ExitCode) => void,
): Promise<Command> {
  const terminal = openTerminal();
  const help = new Help();
  const program = new Command("annals")
    .description(packageJson.description)
    .version(packageJson.version, "--version", "print the version")
    // An option after the command belongs to the command: get --version 1 is an error.
    .enablePositionalOptions()
    .helpOption("-h, --help", "print this help, or that of a command")
    .configureHelp({
      showGlobalOptions: false,
      // Every flag without a value is off unless given.
      optionDescription: (option) =>
        option.defaultValue === false ? option.description : help.optionDescription(option),
    })
    .showHelpAfterError("Add -h to see the arguments and options")
    .exitOverride()
    // Errors of the parser get the prefix that every other error has.
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "annals: ")),
    })
    .addHelpText("after", `${examplesHelp}\n${exitCodesHelp}`);

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

  if (args[0] !== "serve") {
    const { addCommands } = await import("./commands/commands.ts");
    addCommands(program, { operations, terminal, finish });
  }
  return program;
}

const serveHelp = `
--output json (--json) is --log-format json. --quiet logs warnings and errors alone, and prints nothing but the
address of the service.`;

/** Four spaces in front: lines with two are commands. */
const examplesHelp = `
Find a table, see who owns it, change its first owner, see what changed, undo it:
    annals search forecast --type dataset
    annals get '<urn>' ownership
    annals patch '<urn>' ownership --replace /owners/0/owner=urn:li:corpuser:jdoe
    annals history '<urn>' ownership
    annals runs rollback <run>`;
