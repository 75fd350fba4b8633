/** A minute of trials with a fixed seed; `npm run flips` runs any number of them. */
import { expect, test } from "vitest";
import { runTrials, type Trial, trialText } from "./flip-trials.ts";
import { fillCatalog } from "./flipped-catalog.ts";

const seed = 20_261_126;
const trialsMin = 20;
const trialsMax = 2_000;
const enoughMs = 60_000;

test("each flipped bit of a data directory is harmless, rejected or repaired", {
  timeout: 1_200_000,
}, async () => {
  using catalog = await fillCatalog();
  const trials: Trial[] = [];
  const silent: string[] = [];
  const started = performance.now();
  const isOver = (done: number) => done >= trialsMin && performance.now() - started > enoughMs;
  await runTrials(catalog, { seed, to: trialsMax, jobs: 2, isOver }, (n, trial) => {
    trials.push(trial);
    if (trial.outcome === "silent") silent.push(trialText(n, trial));
  });
  expect(silent).toEqual([]);
  expect(trials.length).toBeGreaterThanOrEqual(trialsMin);
  expect(new Set(trials.map(({ outcome }) => outcome))).toContain("rejected");
});
