/** Encodes and decodes records of the schema registry. They hold no changes, so views ignore them. */
import { createSingleObjectCodec } from "./single-object.ts";

export interface SchemaRecord {
  /** Null: all subjects without a level of their own. */
  readonly subject: string | null;
  /** Id of the schema that is the subject's next version. */
  readonly id: number | null;
  /** Null if an earlier record with this id, or the service itself, has the schema. */
  readonly schema: string | null;
  /** The new compatibility level. */
  readonly compatibility: string | null;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Urn. */
  readonly actor: string;
}

export const schemaCodec = createSingleObjectCodec<SchemaRecord>("SchemaRecord.avsc", "schema");
