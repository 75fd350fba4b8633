/**
 * Property tests use the same random cases in every run, so that their results are reproducible.
 * `FC_SEED=random npm test` uses new cases; `FC_SEED=<number>` repeats the cases of such a run.
 */
import fc from "fast-check";

const asked = process.env.FC_SEED ?? "20260704";

if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });
