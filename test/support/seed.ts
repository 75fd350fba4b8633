/**
 * Property tests try the same random cases on every run, so that a run that passed passes again.
 * `FC_SEED=random npm test` looks further; `FC_SEED=<number>` repeats what such a run found.
 */
import fc from "fast-check";

const asked = process.env.FC_SEED ?? "20260704";

if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });
