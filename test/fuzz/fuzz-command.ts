/**
 * `npm run fuzz -- --minutes 60 --seed 7`: the fuzzer for any duration and seed, on a service of its
 * own in a temporary directory. Prints a line every half minute, and all problems at the end. The
 * exit code is 1 if there is a problem.
 */
import { parseArgs } from "node:util";
import { runningService } from "../support/running-service.ts";
import { fuzz } from "./fuzz.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error("fuzz: --minutes takes a number above 0, and --seed a whole number");
  process.exit(2);
}

const everyMs = 30_000;
let printedAt = Date.now();
await using service = await runningService({ logLevel: "error", mcpWrites: "on" });
const report = await fuzz({
  ...{ service, seed, until: Date.now() + minutes * 60_000 },
  onProgress({ batches, requests, problems }) {
    if (Date.now() - printedAt < everyMs) return;
    printedAt = Date.now();
    console.log(`${batches} batches, ${requests} requests, ${problems.length} problems`);
  },
});
for (const problem of report.problems) console.log(`problem: ${problem}`);
for (const [route, count] of [...report.accepted].sort())
  console.log(`accepted: ${count} ${route}`);
console.log(
  `seed ${seed}: ${report.batches} batches, ${report.requests} requests, ${report.problems.length} problems`,
);
process.exitCode = report.problems.length === 0 ? 0 : 1;
