/** The commands that read and write the catalog of a running service: their arguments, flags and help. */
import { Argument, type Command, Option } from "commander";
import {
  limit,
  type PageArguments,
  paged,
  repeated,
  version,
  wholeNumber,
} from "../../arguments.ts";
import { addCommonFlags, type CommonFlags, openSession } from "../../client/session.ts";
import { unlessStuck } from "../../client/stuck-views.ts";
import { type ExitCode, exitCodes } from "../../failure.ts";
import { commandOutput } from "../../terminal/output.ts";
import {
  addOutputFlags,
  formatsWithoutUrns,
  type OutputFlags,
  type OutputFormat,
  outputFormats,
} from "../../terminal/output-flags.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { complete, completionScript, type Shell, shells } from "../completion.ts";
import {
  getPolicy,
  listPolicies,
  listTokens,
  login,
  openPage,
  putPolicy,
  revokeToken,
  whoami,
} from "../operations/access.ts";
import { type ExportFlags, exportCatalog } from "./export.ts";
import { type GetFlags, get } from "./get.ts";
import { type LineageFlags, lineage, type RelationshipsFlags, relationships } from "./graph.ts";
import { type DiffFlags, diff, type HistoryFlags, history } from "./history.ts";
import { describeRun, listRuns, type RollbackFlags, rollbackRun } from "./runs.ts";
import { list, type SearchCommandFlags, search } from "./search.ts";
import { type WatchFlags, watch } from "./watch.ts";
import { addWrites, type Frame } from "./write-commands.ts";

interface CatalogCommandsParts {
  /** `annals token`, which has `create` already. */
  readonly tokens: Command;
  readonly terminal: Terminal;
  readonly finish: (code: ExitCode) => void;
  /** Text after the help of each command. */
  readonly exitCodesHelp: string;
}

export function addCatalogCommands(program: Command, parts: CatalogCommandsParts): void {
  const { tokens, terminal, finish, exitCodesHelp } = parts;
  const formatsOf = new Map<Command, readonly OutputFormat[]>();
  const frame: Frame = {
    command(parent, usage, about, formats = outputFormats) {
      const command = parent.command(usage).description(about);
      formatsOf.set(command.addHelpText("after", exitCodesHelp), formats);
      return command;
    },
    async inSession(flags, work) {
      const session = await openSession(flags, terminal);
      const code = (await work(session)) ?? exitCodes.done;
      finish(await unlessStuck(code, session.connection));
    },
  };
  frame
    .command(
      program,
      "login [server]",
      "store the address of a service and a token for it",
      formatsWithoutUrns,
    )
    .action(async (server: string | undefined, flags: CommonFlags) => {
      await login(server, flags, terminal);
    });
  frame
    .command(program, "whoami", "show the user and the service that commands use")
    .action((flags: CommonFlags) => frame.inSession(flags, whoami));
  addReads(program, frame);
  addHistory(program, frame);
  addWrites(program, frame);
  addGraph(program, frame);
  addRuns(program, frame);
  addFeeds(program, frame);
  addTokens(tokens, frame);
  addPolicies(program, frame);
  frame
    .command(
      program,
      "open",
      "print the address of the page, and open it in a browser",
      formatsWithoutUrns,
    )
    .action((flags: CommonFlags) => frame.inSession(flags, openPage));
  for (const [command, formats] of formatsOf) addCommonFlags(command, formats);
  addCompletion(program, parts);
}

function addCompletion(
  program: Command,
  { terminal, exitCodesHelp }: Pick<CatalogCommandsParts, "terminal" | "exitCodesHelp">,
): void {
  const completion = program
    .command("completion")
    .description("print the completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText("after", `${completionHelp}\n${exitCodesHelp}`)
    .action((shell: Shell, flags: OutputFlags) => {
      const script = completionScript(shell);
      const result = { value: { shell, script }, table: script, verbatim: true };
      return commandOutput(flags, terminal).print(result);
    });
  addOutputFlags(completion, formatsWithoutUrns);
  program
    .command("complete [words...]", { hidden: true })
    .action(async (words: readonly string[]) => {
      for (const candidate of await complete(program, words)) await terminal.print(candidate);
    });
}

const completionHelp = `
bash: add to ~/.bashrc      source <(annals completion bash)
zsh:  add to ~/.zshrc       source <(annals completion zsh)
fish: run once              annals completion fish > ~/.config/fish/completions/annals.fish`;

/** `token list` and `token revoke`, beside `token create`. */
function addTokens(tokens: Command, { command, inSession }: Frame): void {
  paged(command(tokens, "list", "list access tokens"), "tokens", 100, 1_000).action(
    (flags: CommonFlags & PageArguments) =>
      inSession(flags, (session) => listTokens(session, flags)),
  );
  command(tokens, "revoke <id>", "revoke an access token at once", formatsWithoutUrns)
    .option("--yes", "do not ask for confirmation", false)
    .action((id: string, flags: CommonFlags & { yes: boolean }) =>
      inSession(flags, (session) => revokeToken(session, id, flags)),
    );
}

function addReads(program: Command, { command, inSession }: Frame): void {
  command(program, "get <urn> [aspect...]", "show an entity, or some of its aspects")
    .addOption(
      new Option(
        "--aspect-version <n>",
        "a version of one aspect; 0 is the latest, -1 the one before",
      ).argParser(version),
    )
    .option(
      "--as-of <when>",
      "as it was at a position of the log or at a time (2026-01-31T12:00:00Z)",
    )
    .addOption(limit("--count <events>", "events of a timeseries aspect", 10, 10_000))
    .action((urn: string, aspects: readonly string[], flags: CommonFlags & GetFlags) =>
      inSession(flags, (session) => get(session, urn, aspects, flags)),
    );
  const listing = command(program, "list <type>", "list the entities of a type, like dataset");
  paged(listing, "entities", 100)
    .option("--all", "list all", false)
    .action((type: string, flags: CommonFlags & Parameters<typeof list>[2]) =>
      inSession(flags, (session) => list(session, type, flags)),
    );
  const searching = command(
    program,
    "search [query...]",
    "search the catalog; without a query, find everything",
  )
    .addOption(repeated("--type <type>", "entities of this type alone; may be repeated"))
    .addOption(
      repeated(
        "--filter <condition>",
        "field=value or field!=value; may be repeated, and all hold",
      ),
    )
    .option("--sort <field>", "order by a field: name or name:desc")
    .option("--facets", "show how many entities have each value of each facet", false)
    .option("--scroll", "list every match", false);
  paged(searching, "entities", 20, 10_000).action(
    (words: readonly string[], flags: CommonFlags & SearchCommandFlags) =>
      inSession(flags, (session) => search(session, words.join(" ") || "*", flags)),
  );
}

function addHistory(program: Command, { command, inSession }: Frame): void {
  command(
    program,
    "history <urn> [aspect...]",
    "list the changes of an entity: actor, run, time, what changed",
  )
    .addOption(
      new Option("--after <position>", "changes after this position")
        .argParser(wholeNumber)
        .default(0),
    )
    .addOption(limit("--count <changes>", "the newest so many", 100))
    .action((urn: string, aspects: readonly string[], flags: CommonFlags & HistoryFlags) =>
      inSession(flags, (session) => history(session, urn, aspects, flags)),
    );
  command(
    program,
    "diff <urn> [aspect] [version...]",
    "compare two versions of an aspect, or an entity at two points in time",
  )
    .option("--from <when>", "a position of the log or a time")
    .option("--to <when>", "a position of the log or a time (default: now)")
    .addHelpText("after", diffHelp)
    .action(
      (
        urn: string,
        aspect: string | undefined,
        versions: readonly string[],
        flags: CommonFlags & DiffFlags,
      ) => inSession(flags, (session) => diff(session, urn, aspect, versions.map(version), flags)),
    );
}

const diffHelp = `
Without versions, the latest version is compared with the one before. 0 is the latest, -1 the one before.`;

function addGraph(program: Command, { command, inSession }: Frame): void {
  command(program, "relationships <urn>", "list the edges of an entity")
    .addOption(repeated("--type <type>", "edges of this type alone, like OwnedBy; may be repeated"))
    .addOption(
      new Option("--direction <direction>", "from the entity, to it, or both")
        .choices(["outgoing", "incoming", "both"])
        .default("both"),
    )
    .action((urn: string, flags: CommonFlags & RelationshipsFlags) =>
      inSession(flags, (session) => relationships(session, urn, flags)),
    );
  command(
    program,
    "lineage <urn>",
    "show as a tree what an entity is made from, or what is made from it",
  )
    .addOption(
      new Option("--direction <direction>", "where the data comes from, or where it goes")
        .choices(["upstream", "downstream"])
        .default("downstream"),
    )
    .addOption(limit("--hops <hops>", "steps from the entity", 3, 1_000))
    .addOption(limit("--count <entities>", "at most so many", 1_000, 10_000))
    .action((urn: string, flags: CommonFlags & LineageFlags) =>
      inSession(flags, (session) => lineage(session, urn, flags)),
    );
}

function addRuns(program: Command, { command, inSession }: Frame): void {
  const runs = program.command("runs").description("runs of ingestion: list, describe, roll back");
  const listed = command(runs, "list", "list runs, the latest first", formatsWithoutUrns);
  paged(listed, "runs", 20, 1_000).action((flags: CommonFlags & PageArguments) =>
    inSession(flags, (session) => listRuns(session, flags)),
  );
  const described = command(runs, "describe <run>", "list the aspects that a run wrote");
  paged(described, "aspects", 100, 10_000).action(
    (run: string, flags: CommonFlags & PageArguments) =>
      inSession(flags, (session) => describeRun(session, run, flags)),
  );
  command(runs, "rollback <run>", "revert what a run wrote, after a preview")
    .option(
      "--hard",
      "delete the entities that the run created for good, instead of hiding them",
      false,
    )
    .option("--dry-run", "only show the preview", false)
    .option("--yes", "do not ask for confirmation", false)
    .action((run: string, flags: CommonFlags & RollbackFlags) =>
      inSession(flags, (session) => rollbackRun(session, run, flags)),
    );
}

function addFeeds(program: Command, { command, inSession }: Frame): void {
  command(program, "watch", "print each change as it happens, until Ctrl-C")
    .addOption(
      new Option("--after <position>", "begin after this position (default: now)").argParser(
        wholeNumber,
      ),
    )
    .addOption(repeated("--type <type>", "changes of entities of this type alone; may be repeated"))
    .addOption(repeated("--aspect <aspect>", "changes of this aspect alone; may be repeated"))
    .addOption(repeated("--urn <urn>", "changes of this entity alone; may be repeated"))
    .option("--previous", "with --json: include previous values", false)
    .option(
      "--exec <command>",
      "run a shell command for each change: $1 urn, $2 aspect, $3 position, JSON on stdin",
    )
    .addOption(limit("--count <changes>", "end after so many (default: no end)"))
    .action((flags: CommonFlags & WatchFlags) =>
      inSession(flags, (session) => watch(session, flags)),
    );
  command(program, "export", "print the latest aspects as JSON lines that ingest takes")
    .addOption(repeated("--type <type>", "entities of this type alone; may be repeated"))
    .addOption(repeated("--aspect <aspect>", "this aspect alone; may be repeated"))
    .option("--query <query>", "entities that match a search", "*")
    .option("--file <file>", "write to a file, which makes the export resumable")
    .option("--resume", "continue an interrupted export into --file", false)
    .addOption(limit("--batch <entities>", "entities in one request", 500, 10_000))
    .action((flags: CommonFlags & ExportFlags) =>
      inSession(flags, (session) => exportCatalog(session, flags)),
    );
}

function addPolicies(program: Command, { command, inSession }: Frame): void {
  const policies = program.command("policy").description("access policies: list, get, put");
  command(
    policies,
    "list [query]",
    "list policies, all or those with a text in name or description",
  ).action((query: string | undefined, flags: CommonFlags) =>
    inSession(flags, (session) => listPolicies(session, query)),
  );
  command(policies, "get <urn>", "show a policy").action((urn: string, flags: CommonFlags) =>
    inSession(flags, (session) => getPolicy(session, urn)),
  );
  command(
    policies,
    "put <file> [urn]",
    "create a policy from JSON or YAML (- for stdin), or replace the one with the urn",
  ).action((file: string, urn: string | undefined, flags: CommonFlags) =>
    inSession(flags, (session) => putPolicy(session, file, urn)),
  );
}
