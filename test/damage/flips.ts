/**
 * Flips single bits of the files of data directories and prints the result of each:
 * `npm run flips -- [--count 100] [--seed 1] [--from 1] [--jobs 2] [--file search.sqlite]`. Exits with 1 if a flip was
 * silent. `--from` skips trials of the seed, to repeat one of them; `--jobs` trials run at a time; `--file` limits the
 * flips to files whose names begin with it.
 */
import { parseArgs } from "node:util";
import { memoryDirectory } from "../support/memory-directory.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
    file: { type: "string", default: "" },
  },
});
const memory = process.env.TMPDIR === undefined ? memoryDirectory() : undefined;
if (memory !== undefined) process.env.TMPDIR = memory;

const { fillCatalog } = await import("./flipped-catalog.ts");
const { runTrials, trialText } = await import("./flip-trials.ts");

const from = Number(values.from);
const trials = {
  seed: Number(values.seed),
  from,
  to: from + Number(values.count) - 1,
  jobs: Number(values.jobs),
  prefix: values.file,
};
const counts = new Map<string, number>();
using catalog = await fillCatalog();
await runTrials(catalog, trials, (n, trial) => {
  counts.set(trial.outcome, (counts.get(trial.outcome) ?? 0) + 1);
  console.log(trialText(n, trial));
});
console.log([...counts].map(([outcome, times]) => `${times} ${outcome}`).join(", "));
process.exitCode = counts.has("silent") ? 1 : 0;
