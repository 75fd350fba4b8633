/**
 * `annals completion` prints the script for a shell; the script calls `annals complete` with the words
 * of the line, the last of which is the one to complete. Names come from the program itself; urns,
 * entity types, aspects, fields and runs from the service. No script evaluates a word: urns have
 * parentheses.
 */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type AnnalsClient, createAnnalsClient, dataOf } from "../../client/client.ts";
import { connectionOf } from "../client/connection.ts";
import { aspectsOf, entityTypeIn, entityTypesOf } from "../client/model.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** Without the newline at the end. */
export const completionScript = (shell: Shell): string =>
  readFileSync(new URL(`./completion/annals.${shell}`, import.meta.url), "utf8").trimEnd();

/** Longest wait for the service: a user waits for the next key. */
const askMsMax = 2_000;
const candidatesMax = 50;

/** The candidates for the last of the words. Never throws: without a service there are fewer. */
export async function complete(
  program: Command,
  given: readonly string[],
): Promise<readonly string[]> {
  const words = given.map(unquoted);
  const partial = words.at(-1) ?? "";
  const context = contextOf(program, words.slice(0, -1));
  const fixed = fixedCandidates(context, partial);
  if (fixed !== undefined) return fixed.filter((candidate) => candidate.startsWith(partial));
  try {
    const { server, token } = connectionOf(context.connection);
    const signal = AbortSignal.timeout(askMsMax);
    const client = createAnnalsClient({ address: server, token, signal, attemptsMax: 1 });
    return await askedCandidates(client, context, partial);
  } catch {
    return [];
  }
}

const unquoted = (word: string): string =>
  word.replace(/^['"]/, "").replace(/['"]$/, "").replaceAll(/\\(.)/g, "$1");

interface CompletionContext {
  readonly command: Command;
  /** The option or argument that the next word is the value of; undefined for neither. */
  readonly option: string | undefined;
  readonly argument: string | undefined;
  readonly values: readonly string[];
  readonly connection: { readonly server?: string; readonly tokenFile?: string };
}

function contextOf(program: Command, words: readonly string[]): CompletionContext {
  let command = program;
  let option: string | undefined;
  const values: string[] = [];
  const connection: { server?: string; tokenFile?: string } = {};
  for (const word of words) {
    if (option !== undefined) {
      if (option === "--server") connection.server = word;
      if (option === "--token-file") connection.tokenFile = word;
      option = undefined;
    } else if (word.startsWith("-")) {
      const found = command.options.find(({ long, short }) => word === long || word === short);
      if (found !== undefined && (found.required || found.optional)) option = found.long ?? word;
    } else {
      const below = values.length > 0 ? undefined : commandIn(command, word);
      if (below === undefined) values.push(word);
      else command = below;
    }
  }
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const next = registeredArguments[values.length] ?? (last?.variadic ? last : undefined);
  return { command, option, argument: next?.name(), values, connection };
}

const commandIn = ({ commands }: Command, word: string): Command | undefined =>
  commands.find((command) => command.name() === word || command.aliases().includes(word));

/** Names that the program knows itself; undefined where the service has to be asked. */
function fixedCandidates(
  { command, option }: CompletionContext,
  partial: string,
): readonly string[] | undefined {
  if (option !== undefined) return command.options.find(({ long }) => long === option)?.argChoices;
  if (partial.startsWith("-")) return ["--help", ...shownOptions(command)];
  if (command.commands.length === 0) {
    return command.registeredArguments.find((argument) => argument.argChoices)?.argChoices;
  }
  const below = command.createHelp().visibleCommands(command);
  return below.flatMap((one) => [one.name(), ...one.aliases()]);
}

async function askedCandidates(
  client: AnnalsClient,
  { command, option, argument, values }: CompletionContext,
  partial: string,
): Promise<readonly string[]> {
  const beginning = (names: readonly string[]) => names.filter((name) => name.startsWith(partial));
  const name = option?.slice(2) ?? argument;
  switch (name) {
    case "urn":
      return urnsLike(client, partial);
    case "type":
      // Types of relationships have no list.
      return command.name() === "relationships" ? [] : beginning(await entityTypesOf(client));
    case "entity type":
      return beginning(await entityTypesOf(client));
    case "aspect":
      return beginning(await aspectNames(client, values[0]));
    case "sort":
      return beginning(await fieldsOf(client));
    case "filter":
      return beginning((await fieldsOf(client)).map((field) => `${field}=`));
    case "run":
      return beginning(await runsOf(client));
    default:
      return [];
  }
}

async function aspectNames(client: AnnalsClient, of = ""): Promise<readonly string[]> {
  // `truncate` names a type, the others a urn.
  const type = of.startsWith("urn:") ? entityTypeIn(of) : of;
  const types = type === "" ? (await entityTypesOf(client)).slice(0, 100) : [type];
  const lists = await Promise.all(types.map((one) => aspectsOf(client, one)));
  return [...new Set(lists.flat().map(({ name }) => name))].sort();
}

/** Until the entity type is complete, types; then urns that begin so. Other text is searched for. */
async function urnsLike(client: AnnalsClient, partial: string): Promise<readonly string[]> {
  const [, prefix, type] = /^(urn:[^:]+:)([^:]*)$/.exec(partial) ?? [];
  if (prefix !== undefined) {
    const types = await entityTypesOf(client);
    return types.filter((one) => one.startsWith(type ?? "")).map((one) => `${prefix}${one}:`);
  }
  if (partial === "" || "urn:li:".startsWith(partial)) return ["urn:li:"];
  const isUrn = partial.startsWith("urn:");
  const criterion = { field: "urn", condition: "START_WITH", values: [partial] };
  const body = {
    ...{ input: isUrn ? "*" : `${partial}*`, start: 0, count: candidatesMax },
    ...(isUrn && { filter: { or: [{ and: [criterion] }] } }),
  };
  const found = await dataOf(client.POST("/entities?action=searchAcrossEntities", { body }));
  return found.value.entities.map((hit) => (typeof hit === "string" ? hit : hit.entity));
}

const shownOptions = ({ options }: Command): readonly string[] =>
  options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? "");

/** Fields with facets. */
async function fieldsOf(client: AnnalsClient): Promise<readonly string[]> {
  const body = { input: "*", start: 0, count: 0 };
  const found = await dataOf(client.POST("/entities?action=searchAcrossEntities", { body }));
  const facets = found.value.metadata.aggregations ?? [];
  return facets.map(({ name }) => name).filter((name) => /^[a-z]\w*$/i.test(name));
}

async function runsOf(client: AnnalsClient): Promise<readonly string[]> {
  const body = { pageOffset: 0, pageSize: candidatesMax, includeSoft: true };
  const { value } = await dataOf(client.POST("/runs?action=list", { body }));
  return value.map(({ runId }) => runId);
}
