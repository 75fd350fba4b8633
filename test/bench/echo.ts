/** Starts the baseline as a process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Echo extends Disposable {
  readonly url: string;
  readonly pid: number;
}

export async function startEcho(text = "{}"): Promise<Echo> {
  const script = fileURLToPath(new URL("echo-server.ts", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(text);
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    [Symbol.dispose]: () => void child.kill(),
  };
}
