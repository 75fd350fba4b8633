/** The protocol of the body thread: one request at a time, one response to each. */
import type { Config } from "../config/config.ts";
import type { AuditStamp } from "../core/change.ts";
import type { PatchRules } from "../core/patch.ts";
import type { SerializedError } from "../core/serialized-error.ts";
import type { Ask } from "../http/endpoint.ts";
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

export type ToBodyThread = ReadBodyMessage | ComputeValueMessage;

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

export type FromBodyThread =
  | { readonly refusal: SerializedError }
  /** For an endpoint that writes aspects. The buffers are transferred. */
  | { readonly proposals: PackedProposals }
  | { readonly body: unknown }
  /** JSON text of a computed value. */
  | { readonly text: string };
