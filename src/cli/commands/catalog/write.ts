/** `annals put`, `patch`, `delete` and `restore-version`: writes of one aspect or one entity. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { parse } from "yaml";
import { AnnalsError, type components, dataOf } from "../../../client/client.ts";
import { jsonDiff } from "../../../core/patch/json-diff.ts";
import { aspectsOf, entityTypeIn, requireAspect, requireEntity } from "../../client/model.ts";
import { commandOnServer, type Session } from "../../client/session.ts";
import { describeUnreadable, isSystemError, UsageError } from "../../failure.ts";
import { ask } from "../../terminal/prompt.ts";
import { readAspects, readVersion } from "./get.ts";
import { diffText } from "./history.ts";

type Proposal = components["schemas"]["MetadataChangeProposal"];

export interface WriteFlags {
  readonly dryRun: boolean;
  readonly ifVersion?: number;
}

const conditionOf = ({ ifVersion }: WriteFlags): Pick<Write, "ifVersion"> => ({ ifVersion });

interface Aspect {
  readonly urn: string;
  readonly entityType: string;
  readonly aspectName: string;
}

async function checked(session: Session, urn: string, aspectName: string): Promise<Aspect> {
  const entityType = entityTypeIn(urn);
  requireAspect(aspectName, entityType, await aspectsOf(session.client, entityType));
  return { urn, entityType, aspectName };
}

/** JSON or YAML from a file, or `-` for stdin. */
export async function readDocument(file: string): Promise<unknown> {
  try {
    return parse(file === "-" ? await text(process.stdin) : readFileSync(file, "utf8"));
  } catch (error) {
    if (isSystemError(error)) throw new UsageError(describeUnreadable(file, error));
    throw new UsageError(`"${file}" is neither JSON nor YAML: ${(error as Error).message}`);
  }
}

export async function put(
  session: Session,
  urn: string,
  aspectName: string,
  given: { readonly file?: string | undefined; readonly value?: string | undefined },
  flags: WriteFlags,
): Promise<void> {
  const aspect = await checked(session, urn, aspectName);
  const { file, value } = given;
  if ((file === undefined) === (value === undefined)) {
    throw new UsageError(
      "Name a file with the value (- for stdin), or give the value with --value",
    );
  }
  const after = value === undefined ? await readDocument(file ?? "-") : parseValue(value);
  if (flags.dryRun) return preview(session, aspect, after);
  await write(session, aspect, { changeType: "UPSERT", value: after, ...conditionOf(flags) });
}

export interface PatchFlags extends WriteFlags {
  readonly add?: readonly string[];
  readonly replace?: readonly string[];
  readonly remove?: readonly string[];
}

/** JSON Patch from a file, or from operations as flags. */
export async function patch(
  session: Session,
  urn: string,
  aspectName: string,
  file: string | undefined,
  flags: PatchFlags,
): Promise<void> {
  const aspect = await checked(session, urn, aspectName);
  const operations = [
    ...(flags.remove ?? []).map((path) => ({ op: "remove", path })),
    ...(flags.replace ?? []).map((given) => ({ op: "replace", ...placed(given) })),
    ...(flags.add ?? []).map((given) => ({ op: "add", ...placed(given) })),
  ];
  if ((file === undefined) === (operations.length === 0)) {
    throw new UsageError(
      "Name a file with a JSON Patch (- for stdin), or give --add, --replace or --remove",
    );
  }
  const value = file === undefined ? operations : await readDocument(file);
  if (flags.dryRun) {
    await session.print({
      value,
      urns: [urn],
      table: `would send to ${aspectName} of ${urn}:\n${JSON.stringify(value, undefined, 2)}`,
    });
    session.terminal.note(notSent);
    return;
  }
  await write(session, aspect, { changeType: "PATCH", value, ...conditionOf(flags) });
}

/** `/path=value` */
function placed(given: string): { readonly path: string; readonly value: unknown } {
  const [, path, value] = /^(\/[^=]*)=(.*)$/s.exec(given) ?? [];
  if (path !== undefined && value !== undefined) return { path, value: parseValue(value) };
  throw new UsageError(`"${given}" is not an operation. Write /path=value with a value in JSON`);
}

/** JSON; other text counts as a string. */
function parseValue(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    if (/^\s*[[{"]/.test(given)) throw new UsageError(`the value is not valid JSON: ${given}`);
    return given;
  }
}

export async function restoreVersion(
  session: Session,
  urn: string,
  aspectName: string,
  version: number,
  flags: WriteFlags,
): Promise<void> {
  const aspect = await checked(session, urn, aspectName);
  const { value } = await readVersion(session, urn, aspectName, version);
  if (flags.dryRun) return preview(session, aspect, value);
  await write(session, aspect, { changeType: "UPSERT", value, ...conditionOf(flags) });
}

export interface DeleteFlags {
  readonly hard: boolean;
  readonly references: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

export async function remove(
  session: Session,
  urn: string,
  aspects: readonly string[],
  flags: DeleteFlags,
): Promise<void> {
  const { hard, references, dryRun } = flags;
  const found = [];
  for (const aspect of aspects) found.push(await checked(session, urn, aspect));
  if (aspects.length > 0 && (hard || references)) {
    throw new UsageError("--hard and --references delete an entity; name no aspects with them");
  }
  if (!references) await requireEntity(session.client, urn);
  const plan = await planOf(session, urn, aspects, flags);
  if (dryRun)
    return session.print({ value: { dryRun, ...plan }, urns: [urn], table: `would ${plan.text}` });
  await confirm(session, plan.text, flags);
  if (references)
    await dataOf(session.client.POST("/entities?action=deleteReferences", { body: { urn } }));
  if (hard) await dataOf(session.client.POST("/entities?action=delete", { body: { urn } }));
  else if (!references) {
    const status = { urn, entityType: entityTypeIn(urn), aspectName: "status" };
    for (const aspect of found) await send(session, aspect, { changeType: "DELETE" });
    if (found.length === 0) {
      await send(session, status, { changeType: "UPSERT", value: { removed: true } });
    }
  }
  const { position } = session.client;
  await session.print({ value: { ...plan, position }, urns: [urn], table: `done: ${plan.text}` });
  if (!hard && !references && found.length === 0) {
    const command = `put '${urn}' status --value '{"removed":false}'`;
    session.terminal.note(`undo: ${commandOnServer(command, session)}`);
  }
}

interface Plan {
  readonly text: string;
  readonly [figure: string]: unknown;
}

async function planOf(
  { client }: Session,
  urn: string,
  aspects: readonly string[],
  { hard, references }: DeleteFlags,
): Promise<Plan> {
  if (aspects.length > 0) return { text: `delete ${aspects.join(", ")} of ${urn}`, urn, aspects };
  const parts: string[] = [];
  const figures: Record<string, unknown> = { urn };
  const body = { urn, dryRun: true };
  if (references) {
    const found = await dataOf(client.POST("/entities?action=deleteReferences", { body }));
    figures.references = found.value.total;
    parts.push(`remove ${found.value.total} references to ${urn}`);
  }
  if (hard) {
    const { rows = 0, timeseriesRows = 0 } = (
      await dataOf(client.POST("/entities?action=delete", { body }))
    ).value;
    Object.assign(figures, { rows, timeseriesRows });
    parts.push(`delete ${urn} for good: ${rows} values and ${timeseriesRows} events`);
  } else if (!references) parts.push(`hide ${urn} (soft delete)`);
  return { ...figures, text: parts.join(", and ") };
}

/** Asks on a terminal; elsewhere `--yes` is required. */
export async function confirm(
  { signal }: Pick<Session, "signal">,
  what: string,
  { yes }: { readonly yes: boolean },
): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) {
    throw new UsageError(`this would ${what}. Confirm with --yes, or look first with --dry-run`);
  }
  const answer = await ask(`${what}? [y/N] `, { signal });
  if (!/^y(es)?$/i.test(answer ?? "")) throw new UsageError("not confirmed: nothing was changed");
}

async function preview(session: Session, aspect: Aspect, after: unknown): Promise<void> {
  const { urn, aspectName } = aspect;
  const before = await currentValue(session, urn, aspectName);
  const operations = jsonDiff({ [aspectName]: before }, { [aspectName]: after });
  const table =
    operations.length === 0
      ? "no change"
      : `would change ${urn}:\n${diffText({ [aspectName]: before }, operations, session)}`;
  await session.print({ value: { dryRun: true, operations }, urns: [urn], table });
  session.terminal.note(notSent);
}

const notSent = "nothing was sent: the service validates a value only when it is written";

async function currentValue(session: Session, urn: string, aspectName: string): Promise<unknown> {
  try {
    return (await readAspects(session, urn, [aspectName], {}))[aspectName]?.value ?? {};
  } catch (error) {
    if (error instanceof AnnalsError && error.status === 404) return {};
    throw error;
  }
}

interface Write {
  readonly changeType: Proposal["changeType"];
  readonly value?: unknown;
  readonly ifVersion?: number | undefined;
}

async function write(session: Session, aspect: Aspect, change: Write): Promise<void> {
  const { urn, aspectName } = aspect;
  const runId = await send(session, aspect, change);
  const { position } = session.client;
  await session.print({
    value: { urn, aspect: aspectName, position, runId },
    urns: [urn],
    table: `wrote ${aspectName} of ${urn} at position ${position}`,
  });
  session.terminal.note(`undo: ${commandOnServer(`runs rollback ${runId}`, session)}`);
}

/** Writes under a run id of its own, so that `annals runs rollback` reverts the write. */
async function send(session: Session, aspect: Aspect, change: Write): Promise<string> {
  const { urn, entityType, aspectName } = aspect;
  const { changeType, value, ifVersion } = change;
  const runId = newRunId();
  const contentType = changeType === "PATCH" ? "application/json-patch+json" : "application/json";
  const proposal: Proposal = {
    ...{ entityType, entityUrn: urn, changeType, aspectName },
    ...(value !== undefined && { aspect: { contentType, value: JSON.stringify(value) } }),
    systemMetadata: { runId },
    ...(ifVersion !== undefined && { headers: { "If-Version-Match": String(ifVersion) } }),
  };
  await dataOf(session.client.POST("/aspects?action=ingestProposal", { body: { proposal } }));
  return runId;
}

/** `annals-2026-11-26T13:38:23Z-8de0` */
const newRunId = (): string =>
  `annals-${new Date().toISOString().slice(0, 19)}Z-${randomBytes(2).toString("hex")}`;
