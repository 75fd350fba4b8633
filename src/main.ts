/**
 * The process: arguments → command → exit code. Each command loads its own modules when it
 * runs, so that `annals ingest` and `--help` start without opening any store.
 *
 * Start it through annals.mjs, which sees to the right Node.
 */
import { runProgram } from "./cli/program.ts";

// Other users of the machine must not read the log and its views.
process.umask(0o077);

process.exitCode = await runProgram(process.argv.slice(2), {
  async openService(config, options) {
    // Its thread loads its modules while this one loads those of the service.
    const { startProjectorWorker } = await import("./projector/projector-worker.ts");
    const projectorWorker = startProjectorWorker();
    const { openService } = await import("./service.ts");
    return openService(config, { ...options, projectorWorker });
  },
  async *readLog(config, query) {
    const { readLog } = await import("./offline.ts");
    yield* readLog(config, query);
  },
  async rebuild(config, options) {
    const { rebuild } = await import("./offline-rebuild.ts");
    return rebuild(config, options);
  },
  async verify(config, options) {
    const { verify } = await import("./offline-verify.ts");
    return verify(config, options);
  },
  async copyLog(config, options) {
    const { copyLogTo } = await import("./offline.ts");
    return copyLogTo(config, options);
  },
  async backup(config, options) {
    const { backUp } = await import("./offline-backup.ts");
    return backUp(config, options);
  },
  async repairIndexes(config) {
    const { repairLogIndexes } = await import("./offline.ts");
    return repairLogIndexes(config);
  },
  async checkStores(config) {
    const { checkStores } = await import("./check-stores.ts");
    return checkStores(config);
  },
});
