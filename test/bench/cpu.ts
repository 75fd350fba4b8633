/** Where a process's time goes: CPU microseconds by thread, from what Linux tells of each. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Of one tick in /proc, everywhere that Node runs. */
const TICK_US = 10_000;

export type ThreadTimes = ReadonlyMap<string, number>;

/** By the name of the thread; undefined where the system does not tell. */
export function threadTimes(pid: number): ThreadTimes | undefined {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return undefined;
  const times = new Map<string, number>();
  for (const task of readdirSync(tasks)) {
    const stat = readFileSync(`${tasks}/${task}/stat`, "utf8");
    // The name stands in parentheses and may hold blanks; user and system time are 12th and 13th
    // after it.
    const end = stat.lastIndexOf(")");
    const name = stat.slice(stat.indexOf("(") + 1, end);
    const fields = stat.slice(end + 2).split(" ");
    const us = (Number(fields[11]) + Number(fields[12])) * TICK_US;
    times.set(name, (times.get(name) ?? 0) + us);
  }
  return times;
}

/** `main 60 + projector 90 + … us`, the most first; what is under a microsecond is left out. */
export function shares(before: ThreadTimes, after: ThreadTimes, requests: number): string {
  const each = [...after]
    .map(([name, us]) => [name, Math.round((us - (before.get(name) ?? 0)) / requests)] as const)
    .filter(([, us]) => us > 0)
    .sort(([, a], [, b]) => b - a);
  return `${each.map(([name, us]) => `${name} ${us}`).join(" + ")} us`;
}

/**
 * CPU microseconds of a process's main thread so far, as finely as the scheduler counts them; undefined
 * where the system does not tell.
 */
export function mainThreadTime(pid: number): number | undefined {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(file)) return undefined;
  return Number(readFileSync(file, "utf8").split(" ")[0]) / 1_000;
}
