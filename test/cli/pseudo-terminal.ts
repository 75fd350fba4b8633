/** Runs a command on a pseudo-terminal, which python3 opens because Node.js cannot. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";

export const hasPseudoTerminals =
  process.platform !== "win32" && spawnSync("python3", ["-c", "import pty"]).status === 0;

/**
 * Relays between its standard streams and the terminal of the command, and ends with its exit code.
 */
const relay = `
import fcntl, os, pty, select, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
sources = [terminal, 0]
while True:
    ready = select.select(sources, [], [])[0]
    if 0 in ready:
        keys = os.read(0, 1024)
        if keys: os.write(terminal, keys)
        else: sources.remove(0)
    if terminal in ready:
        try: text = os.read(terminal, 65536)
        except OSError: break
        if not text: break
        os.write(1, text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

export interface TerminalSession {
  readonly code: number;
  /** The whole output with control sequences. */
  readonly raw: string;
  /** The lines without control sequences and without text that a carriage return overwrites. */
  readonly lines: readonly string[];
}

/** `keys`: each is typed once its text has appeared. */
export async function onTerminal(
  command: readonly string[],
  {
    columns,
    environment,
    keys = [],
  }: {
    readonly columns: number;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly keys?: readonly { readonly after: string; readonly type: string }[];
  },
): Promise<TerminalSession> {
  const child = spawn("python3", ["-c", relay, String(columns), ...command], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const left = [...keys];
  let raw = "";
  child.stdout.on("data", (chunk) => {
    raw += chunk;
    while (left[0] !== undefined && raw.includes(left[0].after)) {
      child.stdin.write(left.shift()?.type ?? "");
    }
  });
  const [code] = await once(child, "close");
  const lines = raw.replaceAll("\r\n", "\n").split("\n");
  const shown = lines.map((line) => stripVTControlCharacters(line).split("\r").at(-1) ?? "");
  return { code, raw, lines: shown };
}
