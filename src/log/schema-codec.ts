/** Records of the schema registry and back. They hold no changes: no view is made of them. */
import { createSingleObjectCodec } from "./single-object.ts";

export interface SchemaRecord {
  /** Null: all subjects that have no level of their own. */
  readonly subject: string | null;
  /** Of the schema that became the subject's next version. */
  readonly id: number | null;
  /** Null where an earlier record of the id, or the service itself, has it. */
  readonly schema: string | null;
  /** The level of compatibility that was set. */
  readonly compatibility: string | null;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Urn. */
  readonly actor: string;
}

export const schemaCodec = createSingleObjectCodec<SchemaRecord>("SchemaRecord.avsc", "schema");
