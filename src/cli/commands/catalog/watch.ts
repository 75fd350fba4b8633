/** `annals watch`: follows the change feed, and runs a command for each change. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { AnnalsError, type Change } from "../../../client/client.ts";
import { ownCommand } from "../../../lib/command-hint.ts";
import type { Session } from "../../client/session.ts";
import { Interrupted } from "../../failure.ts";
import { timeOf, yamlOf } from "../../terminal/output.ts";
import { metadataOf } from "./get.ts";

export interface WatchFlags {
  readonly after?: number;
  readonly type?: readonly string[];
  readonly aspect?: readonly string[];
  readonly urn?: readonly string[];
  readonly previous: boolean;
  readonly exec?: string;
  /** Absent: no end. */
  readonly count?: number;
}

export async function watch(session: Session, flags: WatchFlags): Promise<void> {
  const { after, type: entityTypes, aspect: aspects, urn: urns, previous, exec, count } = flags;
  let position = after;
  let seen = 0;
  const query = {
    ...{ after, entityTypes, aspects, urns, previous },
    onPosition: (reached: number) => {
      position = reached;
    },
  };
  for await (const change of session.client.changes(query, session.signal)) {
    await session.terminal.print(lineOf(change, session));
    if (exec !== undefined && (await run(exec, change)) !== 0) {
      const resume = resumeAfter(change.position - 1);
      throw new AnnalsError(`the command of --exec failed. ${resume}`, 0, "internal");
    }
    position = change.position;
    if (++seen === count) return;
  }
  throw new Interrupted(position === undefined ? undefined : resumeAfter(position));
}

const resumeAfter = (position: number): string =>
  `Resume with: ${ownCommand(`watch --after ${position}`)} and the same filters`;

function lineOf(change: Change, { output }: Session): string {
  const { position, created, changeType, aspectName, entityUrn } = change;
  if (output === "json") return JSON.stringify(change);
  if (output === "yaml") return `---\n${yamlOf(change)}`;
  if (output === "urns") return entityUrn;
  const run = metadataOf(change.systemMetadata, "runId") ?? "";
  const verb = changeType === "DELETE" ? "deleted" : "changed";
  return `${position}  ${timeOf(created.time)}  ${created.actor}  ${verb} ${aspectName} of ${entityUrn}  ${run}`.trimEnd();
}

/** The exit code of a command of the shell: $1 urn, $2 aspect, $3 position; the change as JSON on stdin. */
async function run(command: string, change: Change): Promise<number> {
  const { entityUrn, aspectName, position } = change;
  const shell = process.platform === "win32" ? "bash" : "sh";
  const args = ["-c", command, "annals-watch", entityUrn, aspectName, String(position)];
  const child = spawn(shell, args, { stdio: ["pipe", "inherit", "inherit"] });
  // The command may end without reading its input.
  child.stdin.on("error", () => {});
  child.stdin.end(`${JSON.stringify(change)}\n`);
  const [code] = await once(child, "exit");
  return code ?? 1;
}
