/** Commands that read settings: a flag for each setting, and the configuration and log that follow from them. */
import { delimiter } from "node:path";
import { type Command, Option } from "commander";
import { type Config, type Flags, readConfig } from "../../config/config.ts";
import {
  type Command as CommandName,
  defaultOf,
  flagOf,
  type SettingKey,
  settingKeys,
  settings,
  variableOf,
} from "../../config/settings.ts";
import { createLogger, type LogFormat, type Logger } from "../../telemetry/logger.ts";
import { asUsage, exitCodes } from "../failure.ts";
import { addOutputFlags, formatsWithoutUrns, type OutputFormat } from "../terminal/output-flags.ts";

/** Text after the help of every command. */
export const exitCodesHelp = `
Exit codes:
  ${exitCodes.done}  done; of serve: stopped by a signal
  ${exitCodes.failed}  failed, or some of the records did, or the service is not healthy
  ${exitCodes.usage}  not run: the command line, a setting, or what one of them names is wrong
  ${exitCodes.interrupted}  ended by Ctrl-C; the message names the command that resumes or reverts`;

/** A command with output flags, and a flag for each setting of the command `of` (default: its name). */
export function settingsCommand(
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

export const configOf = (flags: Flags): Config => asUsage(() => readConfig(flags));

/** `isQuiet`: warnings and errors alone, unless the setting asks for less. */
export function loggerOf(config: Config, isQuiet: boolean): Logger {
  const level = isQuiet && /^(trace|debug|info)$/.test(config.logLevel) ? "warn" : config.logLevel;
  return createLogger(level, logFormatOf(config));
}

/** Of the log lines on stderr. */
export function logFormatOf({ logFormat }: Config): LogFormat {
  if (logFormat !== "auto") return logFormat;
  return process.stderr.isTTY ? "text" : "json";
}
