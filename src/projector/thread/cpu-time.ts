/**
 * CPU time of the calling thread in milliseconds. On a busy machine, it excludes the wait for a
 * core.
 */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
