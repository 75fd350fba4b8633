/** Milliseconds that the calling thread has computed: what others have of the machine does not count. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The same, and in which it had nothing to do but to wait: servers or other threads worked for it. */
export const workedMs = (): number => threadCpuMs() + performance.eventLoopUtilization().idle;
