/** The methods of the body thread. It is called for one request at a time. */
import type { Config } from "../config/config.ts";
import type { AuditStamp } from "../core/change.ts";
import type { PatchRules } from "../core/patch/patch.ts";
import type { LargeBody } from "../http/hooks/large-bodies.ts";
import type { PackedProposals } from "./packed-proposals.ts";

export interface BodyThreadData {
  readonly config: Pick<
    Config,
    | "model"
    | "modelExtension"
    | "recordPrefix"
    | "urnNamespace"
    | "urnBytesMax"
    | "schemaFieldUrnBytesMax"
    | "aspectBytesMax"
    | "bodyDepthMax"
    | "bodyMembersMax"
  >;
  readonly patchRules: PatchRules;
}

export interface BodyThread {
  /** Parses and validates a body; of an endpoint that writes aspects, it returns the proposals. */
  readonly read: (
    message: ReadBodyMessage,
  ) => { readonly body: unknown } | { readonly proposals: PackedProposals };
  /** JSON text of a computed value. */
  readonly compute: (message: ComputeValueMessage) => string;
}

/** Computes a value that follows from the current one (computed-ahead.ts). */
export interface ComputeValueMessage {
  readonly proposal: PackedProposals;
  readonly label: string;
  readonly stamp: AuditStamp;
  readonly current: string | undefined;
}

/** The body is transferred. */
export type ReadBodyMessage = Omit<LargeBody, "signal">;
