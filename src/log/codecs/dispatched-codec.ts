/**
 * Encodes and decodes records of the cluster job queue: Avro DispatchedRecord. Their streams hold no
 * changes.
 */
import { createSingleObjectCodec } from "./single-object.ts";

export interface DispatchedRecord {
  readonly id: string;
  readonly step: "asked" | "taken" | "running" | "done" | "failed" | "cancelled";
  readonly node: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** JSON text. */
  readonly body: string | null;
}

export const { encode: encodeDispatched, decode: decodeDispatched } =
  createSingleObjectCodec<DispatchedRecord>("HandedRecord.avsc", "work that was handed over");
