/** The thread of one verification, with its own readers. verifying.ts starts it. */
import type { Position } from "../../core/position.ts";
import type { Staged } from "../sink.ts";
import { type BackgroundOwner, runInBackground } from "../thread/background-thread.ts";
import type { VerificationResult } from "./verification.ts";

interface VerifyOptions {
  readonly views: readonly string[];
  readonly since?: Position | undefined;
  /** Verify staging generations (verify-staging.ts); the result is not stored. */
  readonly next?: boolean | undefined;
  /** Staging generations in servers, by view. */
  readonly staged?: Readonly<Record<string, Staged>> | undefined;
}

export interface VerifyTask extends VerifyOptions {
  /** URL of the module that verifies (VerifyModule). */
  readonly module: string;
  readonly config: unknown;
}

/** The exports of the module. */
export interface VerifyModule {
  verifyStoredViews(
    config: unknown,
    options: VerifyOptions & {
      readonly onProgress: (done: number, total: number) => void;
      readonly signal: AbortSignal;
    },
  ): Promise<VerificationResult>;
}

export type VerifyOwner = BackgroundOwner<{ readonly done: number; readonly total: number }>;

runInBackground<VerifyTask, VerificationResult, VerifyOwner>(
  "verification",
  async ({ module, config, ...options }, { signal, report }) => {
    const { verifyStoredViews } = (await import(module)) as VerifyModule;
    return verifyStoredViews(config, {
      ...{ ...options, signal },
      onProgress: (done, total) => report({ done, total }, false),
    });
  },
);
