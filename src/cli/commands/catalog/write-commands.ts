/** The commands that write to a catalog: their flags and help. */
import { type Command, Option } from "commander";
import { repeated, version, wholeNumber } from "../../arguments.ts";
import type { CommonFlags, Session } from "../../client/session.ts";
import type { ExitCode } from "../../failure.ts";
import type { OutputFormat } from "../../terminal/output-flags.ts";
import {
  type DeleteFlags,
  type PatchFlags,
  patch,
  put,
  remove,
  restoreVersion,
  type WriteFlags,
} from "./write.ts";

type Work = (session: Session) => Promise<ExitCode> | Promise<void>;

export interface Frame {
  /** A command with the common flags; `formats` where its result has no urns. */
  readonly command: (
    parent: Command,
    usage: string,
    about: string,
    formats?: readonly OutputFormat[],
  ) => Command;
  readonly inSession: (flags: CommonFlags, work: Work) => Promise<void>;
}

const dryRunOption = ["--dry-run", "show what would change, and change nothing", false] as const;

const ifVersionOption = (): Option =>
  new Option("--if-version <n>", "write only if this is still the latest version").argParser(
    wholeNumber,
  );

const urnHelp = `
Quote urns with parentheses: 'urn:li:dataset:(urn:li:dataPlatform:hive,orders,PROD)'.`;

const patchHelp = `
/owners/0/owner is the owner of the first member of owners, as annals get shows it:
    annals patch '<urn>' ownership --replace /owners/0/owner=urn:li:corpuser:jdoe
    annals patch '<urn>' globalTags --add '/tags/urn:li:tag:Fresh={"tag":"urn:li:tag:Fresh"}'
${urnHelp}`;

export function addWrites(program: Command, { command, inSession }: Frame): void {
  command(
    program,
    "put <urn> <aspect> [file]",
    "write an aspect: JSON or YAML from a file, or - for stdin",
  )
    .option("--value <json>", "the value, instead of a file")
    .addOption(ifVersionOption())
    .option(...dryRunOption)
    .addHelpText("after", urnHelp)
    .action(
      (
        urn: string,
        aspect: string,
        file: string | undefined,
        flags: CommonFlags & WriteFlags & { value?: string },
      ) =>
        inSession(flags, (session) =>
          put(session, urn, aspect, { file, value: flags.value }, flags),
        ),
    );
  command(
    program,
    "patch <urn> <aspect> [file]",
    "change a part of an aspect: a JSON Patch from a file, - for stdin, or flags",
  )
    .addOption(repeated("--add <operation>", "/path=value, the value in JSON; may be repeated"))
    .addOption(repeated("--replace <operation>", "/path=value; may be repeated"))
    .addOption(repeated("--remove <path>", "/path; may be repeated"))
    .addOption(ifVersionOption())
    .option("--dry-run", "show the JSON Patch, and send nothing", false)
    .addHelpText("after", patchHelp)
    .action(
      (urn: string, aspect: string, file: string | undefined, flags: CommonFlags & PatchFlags) =>
        inSession(flags, (session) => patch(session, urn, aspect, file, flags)),
    );
  command(
    program,
    "delete <urn> [aspect...]",
    "hide an entity (soft delete), or delete some of its aspects",
  )
    .option("--hard", "delete the entity for good", false)
    .option("--references", "remove the references to it from other entities", false)
    .option(...dryRunOption)
    .option("--yes", "do not ask for confirmation", false)
    .action((urn: string, aspects: readonly string[], flags: CommonFlags & DeleteFlags) =>
      inSession(flags, (session) => remove(session, urn, aspects, flags)),
    );
  command(
    program,
    "restore-version <urn> <aspect> [version]",
    "write an earlier version of an aspect again (default: the one before)",
  )
    .addOption(ifVersionOption())
    .option(...dryRunOption)
    .action(
      (urn: string, aspect: string, number: string | undefined, flags: CommonFlags & WriteFlags) =>
        inSession(flags, (session) =>
          restoreVersion(session, urn, aspect, version(number ?? "-1"), flags),
        ),
    );
}
