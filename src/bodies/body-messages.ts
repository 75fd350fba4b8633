/** The methods of the body thread. It is called for one request at a time. */
import type { Config } from "../config/config.ts";
import type { AuditStamp } from "../core/change.ts";
import type { PatchRules } from "../core/patch/patch.ts";
import type { Ask } from "../http/schemas/endpoint.ts";
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

export interface ReadBodyMessage {
  /** endpointId of the endpoint. */
  readonly endpoint: string;
  /** Transferred. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The request without its body. */
  readonly ask: Pick<Ask, "key" | "path" | "parameters">;
}
