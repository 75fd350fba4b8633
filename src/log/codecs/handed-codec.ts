/**
 * Encodes and decodes records of the cluster job queue: Avro HandedRecord. Their streams hold no
 * changes.
 */
import { createSingleObjectCodec } from "./single-object.ts";

export interface HandedRecord {
  readonly id: string;
  readonly step: "asked" | "taken" | "running" | "done" | "failed" | "cancelled";
  readonly node: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** JSON text. */
  readonly body: string | null;
}

export const { encode: encodeHanded, decode: decodeHanded } = createSingleObjectCodec<HandedRecord>(
  "HandedRecord.avsc",
  "work that was handed over",
);
