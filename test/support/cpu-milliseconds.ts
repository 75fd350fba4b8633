/** What this process has computed so far: bounds on it hold on a busy machine, too. */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
