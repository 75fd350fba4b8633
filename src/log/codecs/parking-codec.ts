/**
 * Encodes and decodes records of parking: Avro ParkingRecord for records of the log,
 * AspectParkingRecord for values of a document. Each view has one such stream, which holds no changes.
 */
import type { ParkedValue } from "../../core/parked-values.ts";
import type { LogRecord } from "../change-log.ts";
import { createSingleObjectCodec } from "./single-object.ts";

export interface ParkingRecord extends Partial<ParkedValue> {
  readonly kind: "parked" | "dropped" | "released";
  readonly urn: string;
  readonly position: number;
  readonly reason: string | null;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly actor: string | null;
}

const ofRecords = createSingleObjectCodec<ParkingRecord>("ParkingRecord.avsc", "parking");
const ofValues = createSingleObjectCodec<ParkingRecord>("AspectParkingRecord.avsc", "parking");

export const encodeParking = (record: ParkingRecord): Uint8Array =>
  (record.aspect === undefined ? ofRecords : ofValues).encode(record);

export const decodeParking = (record: LogRecord): ParkingRecord =>
  (ofValues.writes(record) ? ofValues : ofRecords).decode(record);
