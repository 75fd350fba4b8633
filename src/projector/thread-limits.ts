/**
 * Limits of threads that feed views, grow them or compare them. Most of a batch is gone with it:
 * collected in less room, it takes a tenth of the time.
 */
import type { ResourceLimits } from "node:worker_threads";

export const threadLimits: ResourceLimits = { maxYoungGenerationSizeMb: 48 };
