/** The user for servers that refuse to be run by root. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Unavailable } from "./server-kind.ts";

const run = promisify(execFile);

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

const candidates = ["postgres", "nobody"];

/** Undefined where this process is not root's: then it stays who it is. */
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
