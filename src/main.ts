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
    const { startProjectorWorker } = await import("./projector/thread/projector-worker.ts");
    const projectorWorker = startProjectorWorker();
    const { openService } = await import("./app/service.ts");
    return openService(config, { ...options, projectorWorker });
  },
  async *readLog(config, query) {
    const { readLog } = await import("./app/offline/offline.ts");
    yield* readLog(config, query);
  },
  async rebuild(config, options) {
    const { rebuild } = await import("./app/offline/offline-rebuild.ts");
    return rebuild(config, options);
  },
  async verify(config, options) {
    const { verify } = await import("./app/offline/offline-verify.ts");
    return verify(config, options);
  },
  async copyLog(config, options) {
    const { copyLogTo } = await import("./app/offline/offline.ts");
    return copyLogTo(config, options);
  },
  async backup(config, options) {
    const { backUp } = await import("./app/offline/offline-backup.ts");
    return backUp(config, options);
  },
  async repairIndexes(config) {
    const { repairLogIndexes } = await import("./app/offline/offline.ts");
    return repairLogIndexes(config);
  },
  async checkStores(config) {
    const { checkStores } = await import("./app/doctor/check-stores.ts");
    return checkStores(config);
  },
});
