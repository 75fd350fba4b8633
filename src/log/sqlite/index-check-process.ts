/** A process that checks the indexes of one log, reports what it found and ends (index-check.ts). */
import { setPriority } from "node:os";
import { saidBy } from "../../core/errors.ts";
import { findIndexDamage, type IndexCheckReport } from "./index-check.ts";

/** Lower priority than the service. */
const NICENESS = 10;

const [file = ""] = process.argv.slice(2);
const report = (message: IndexCheckReport): void => {
  process.send?.(message, () => process.disconnect());
};

try {
  setPriority(NICENESS);
  report({ finding: findIndexDamage(file) ?? null });
} catch (error) {
  report({ error: saidBy(error) });
}
