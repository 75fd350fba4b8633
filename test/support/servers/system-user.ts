/** The user for servers that do not run as root. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Unavailable } from "./server-kind.ts";

const run = promisify(execFile);

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

const candidates = ["postgres", "nobody"];

/** Undefined if this process does not run as root: servers then run as the same user. */
export async function unprivilegedUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of candidates) {
    const user = await idsOf(name);
    if (user !== undefined) return user;
  }
  throw new Unavailable(`root may not run it, and there is no user ${candidates.join(" or ")}`);
}

async function idsOf(name: string): Promise<SystemUser | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, name])).stdout)),
    );
    return uid === undefined || gid === undefined ? undefined : { uid, gid };
  } catch {
    return undefined;
  }
}
