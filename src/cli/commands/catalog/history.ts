/** `annals history` and `annals diff`: the changes of an entity, and the difference of two of its states. */
import { type Change, dataOf } from "../../../client/client.ts";
import { type JsonDiffOperation, jsonDiff } from "../../../core/patch/json-diff.ts";
import { appendAll } from "../../../lib/lists.ts";
import { aspectsOf, entityTypeIn, requireAspect, requireEntity } from "../../client/model.ts";
import type { Session } from "../../client/session.ts";
import { UsageError } from "../../failure.ts";
import { timeOf } from "../../terminal/output.ts";
import { metadataOf, pointInTime, readAspects, readVersion } from "./get.ts";

const pageMax = 1_000;

export interface HistoryFlags {
  /** Changes after this position. */
  readonly after: number;
  /** The newest of them. */
  readonly count: number;
}

export async function history(
  session: Session,
  urn: string,
  aspects: readonly string[],
  { after, count }: HistoryFlags,
): Promise<void> {
  const entityType = entityTypeIn(urn);
  const model = await aspectsOf(session.client, entityType);
  for (const aspect of aspects) requireAspect(aspect, entityType, model);
  const changes = await changesOf(session, urn, aspects, after);
  if (changes.length === 0) await requireEntity(session.client, urn);
  const shown = changes.slice(-count);
  await session.print({
    value: shown,
    urns: [urn],
    table: {
      heads: ["POSITION", "TIME", "BY", "ASPECT", "VERSION", "RUN", "CHANGE"],
      rows: shown.map((change) => [
        ...[String(change.position), timeOf(change.created.time), change.created.actor],
        ...[change.aspectName, metadataOf(change.systemMetadata, "version") ?? ""],
        ...[metadataOf(change.systemMetadata, "runId") ?? "", summaryOf(change)],
      ]),
    },
    none: "no changes",
  });
  const more = changes.length - shown.length;
  if (more > 0) session.terminal.note(`${more} older changes; --count shows more`);
}

async function changesOf(
  { client, terminal }: Session,
  urn: string,
  aspects: readonly string[],
  after: number,
): Promise<readonly Change[]> {
  const changes: Change[] = [];
  const head = (await dataOf(client.GET("/changes", { params: { query: { from: "now" } } })))
    .position;
  const bar = terminal.startBar(
    "reading the log {bar} {percentage}% | position {value} of {total}",
  );
  try {
    for (let at = after; ; ) {
      const query = {
        ...{ after: at, urn, previous: true, limit: pageMax },
        ...(aspects.length > 0 && { aspect: aspects.join(",") }),
      };
      const page = await dataOf(client.GET("/changes", { params: { query } }));
      appendAll(changes, page.changes);
      at = page.position;
      bar.update(at, head);
      if (page.end) return changes;
    }
  } finally {
    bar.stop();
  }
}

/** `owners/1/type` changed; several changes are counted. */
function summaryOf({ changeType, aspect, previousAspectValue }: Change): string {
  if (changeType === "DELETE") return "deleted";
  if (previousAspectValue === undefined) return "created";
  const operations = jsonDiff(previousAspectValue.value, aspect?.value);
  const [first] = operations;
  if (first === undefined) return "unchanged";
  const signs = { add: "+", remove: "-", replace: "~" };
  const more = operations.length === 1 ? "" : ` and ${operations.length - 1} more`;
  return `${signs[first.op]} ${first.path}${more}`;
}

export interface DiffFlags {
  /** Positions or times. */
  readonly from?: string;
  readonly to?: string;
}

/** Values by aspect. */
type State = Readonly<Record<string, unknown>>;

export async function diff(
  session: Session,
  urn: string,
  aspect: string | undefined,
  versions: readonly number[],
  { from, to }: DiffFlags,
): Promise<void> {
  const entityType = entityTypeIn(urn);
  if (aspect !== undefined) {
    requireAspect(aspect, entityType, await aspectsOf(session.client, entityType));
  }
  let before: State;
  let after: State;
  if (from !== undefined) {
    if (versions.length > 0) throw new UsageError("Use either versions or --from and --to");
    before = await stateAt(session, urn, aspect, from);
    after = await stateAt(session, urn, aspect, to);
  } else {
    if (to !== undefined) throw new UsageError("--to needs --from");
    if (aspect === undefined) {
      throw new UsageError(
        "Name an aspect to compare its versions, or a position or time with --from",
      );
    }
    const [older = -1, newer = 0] = versions;
    before = { [aspect]: (await readVersion(session, urn, aspect, older)).value };
    after = { [aspect]: (await readVersion(session, urn, aspect, newer)).value };
  }
  const operations = jsonDiff(before, after);
  await session.print({
    value: operations.map((operation) => ({
      ...operation,
      before: valueAt(before, operation.path),
    })),
    urns: operations.length > 0 ? [urn] : [],
    table: operations.length === 0 ? "no difference" : diffText(before, operations, session),
  });
}

async function stateAt(
  session: Session,
  urn: string,
  aspect: string | undefined,
  point: string | undefined,
): Promise<State> {
  const names = aspect === undefined ? [] : [aspect];
  const aspects = await readAspects(session, urn, names, pointInTime(point));
  return Object.fromEntries(Object.entries(aspects).map(([name, { value }]) => [name, value]));
}

/** A line with the path, then the lines `- before` and `+ after`. */
export function diffText(
  before: unknown,
  operations: readonly JsonDiffOperation[],
  { terminal }: Pick<Session, "terminal">,
): string {
  const colored = terminal.styled ?? ((_: string, text: string) => text);
  return operations
    .flatMap(({ op, path, value }) => [
      path.slice(1),
      ...(op === "add" ? [] : [colored("red", `- ${JSON.stringify(valueAt(before, path))}`)]),
      ...(op === "remove" ? [] : [colored("green", `+ ${JSON.stringify(value)}`)]),
    ])
    .join("\n");
}

/** The value at a JSON pointer; undefined where there is none. */
function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const part of path.split("/").slice(1)) {
    const member = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, member))
      return undefined;
    value = Reflect.get(value, member);
  }
  return value;
}
