/**
 * Measures the work of the calling thread. On a busy machine, CPU time excludes the wait for a
 * core.
 */

/** CPU time of the calling thread in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** CPU time plus idle time, in which servers or other threads work for this one. */
export const workedMs = (): number => threadCpuMs() + performance.eventLoopUtilization().idle;
