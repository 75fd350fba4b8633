/** CPU microseconds of a process by thread, from /proc. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Microseconds of one tick in /proc, on all platforms of Node. */
const TICK_US = 10_000;

export type ThreadTimes = ReadonlyMap<string, number>;

/** By thread name; undefined on systems without /proc. */
export function threadTimes(pid: number): ThreadTimes | undefined {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return undefined;
  const times = new Map<string, number>();
  for (const task of readdirSync(tasks)) {
    const stat = readFileSync(`${tasks}/${task}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    times.set(name, (times.get(name) ?? 0) + microseconds(stat));
  }
  return times;
}

/** The name stands in parentheses and may hold blanks; user and system time are 12th and 13th after it. */
function microseconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/**
 * CPU microseconds of a process, those of its ended threads included; NaN on systems without
 * /proc.
 */
export function processTime(pid: number): number {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) ? microseconds(readFileSync(file, "utf8")) : Number.NaN;
}

/**
 * `main 60 + projector 90 + … us`, in descending order; threads below a microsecond are omitted.
 */
export function shares(before: ThreadTimes, after: ThreadTimes, requests: number): string {
  const each = [...after]
    .map(([name, us]) => [name, Math.round((us - (before.get(name) ?? 0)) / requests)] as const)
    .filter(([, us]) => us > 0)
    .sort(([, a], [, b]) => b - a);
  return `${each.map(([name, us]) => `${name} ${us}`).join(" + ")} us`;
}

/**
 * CPU microseconds of the main thread of a process, at the resolution of the scheduler; undefined
 * on systems without /proc.
 */
export function mainThreadTime(pid: number): number | undefined {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(file)) return undefined;
  return Number(readFileSync(file, "utf8").split(" ")[0]) / 1_000;
}

/** Longer than the pause between two merges of the search view. */
const idleProbeMs = 6_000;

/** Waits until the process uses less than a twentieth of a core; returns at once on systems without /proc. */
export async function idle(pid: number): Promise<void> {
  for (let before = processTime(pid); ; ) {
    await pause(idleProbeMs);
    const after = processTime(pid);
    if (!(after - before >= (idleProbeMs * 1_000) / 20)) return;
    before = after;
  }
}
