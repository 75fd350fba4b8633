/**
 * Records of what views could not take: Avro ParkingRecord, in one stream per view, which holds no
 * changes.
 */
import { createSingleObjectCodec } from "./single-object.ts";

export interface ParkingRecord {
  readonly kind: "parked" | "dropped" | "released";
  readonly urn: string;
  readonly position: number;
  readonly reason: string | null;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly actor: string | null;
}

export const { encode: encodeParking, decode: decodeParking } =
  createSingleObjectCodec<ParkingRecord>("ParkingRecord.avsc", "parking");
