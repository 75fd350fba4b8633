/** Encodes and decodes records of the audit trail: Avro AuditRecord. Their streams hold no changes. */
import { createSingleObjectCodec } from "./single-object.ts";

export interface AuditRecord {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly action: string;
  readonly outcome: "allowed" | "refused" | "failed";
  /** Urn. */
  readonly actor: string | null;
  readonly address: string | null;
  readonly urn: string | null;
  readonly detail: string | null;
  readonly count: number;
}

export const { encode: encodeAudit, decode: decodeAudit } = createSingleObjectCodec<AuditRecord>(
  "AuditRecord.avsc",
  "audit trail",
);
