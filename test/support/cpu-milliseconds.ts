/** CPU time of this process so far. Limits on it also hold on a busy machine. */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
