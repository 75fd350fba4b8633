/** Writes the parts of a segment: the core, each field, and the lists of terms (segment.ts). */
import { ByteWriter, narrowed } from "./bytes.ts";
import { writeDictionary } from "./dictionary.ts";
import type { FieldBuilder } from "./field-builder.ts";
import type { LevelTable } from "./postings.ts";
import type { SegmentDirectory } from "./segment.ts";
import { TermsWriter } from "./terms.ts";

export interface BuiltSegment {
  readonly directory: SegmentDirectory;
  readonly bytes: Uint8Array;
}

interface SegmentContent {
  /** Of the documents, in the order of their urns. */
  readonly ids: readonly number[];
  /** Their keys. */
  readonly urns: readonly Uint8Array[];
  readonly fields: Iterable<readonly [name: string, field: FieldBuilder]>;
  /** Complete when all terms are written. */
  readonly levels: LevelTable;
  wholes(writer: TermsWriter): void;
  words(writer: TermsWriter): void;
}

export function writeSegment(content: SegmentContent): BuiltSegment {
  const { ids, urns, levels } = content;
  const segment = new ByteWriter();
  const core = new ByteWriter();
  const firstId = ids.reduce((first, id) => Math.min(first, id));
  const distances = ids.map((id) => id - firstId);
  const greatest = distances.reduce((last, distance) => Math.max(last, distance));
  const terms = (write: (writer: TermsWriter) => void) => {
    const writer = new TermsWriter(core);
    write(writer);
    return writer.end(segment);
  };
  const directory = {
    docs: ids.length,
    firstId,
    ids: core.section(narrowed(distances, greatest)),
    urns: writeDictionary(core, urns),
    wholes: terms(content.wholes),
    words: terms(content.words),
    levels: levels.levels,
  };
  const fields: SegmentDirectory["fields"][number][] = [];
  // One field after the other: each takes memory while it is built.
  for (const [name, field] of content.fields) {
    const writer = new ByteWriter();
    const entry = field.write(writer, name, ids.length);
    if (entry !== undefined) fields.push({ entry, part: segment.section(writer.view()) });
  }
  return {
    directory: { ...directory, fields, core: segment.section(core.view()) },
    bytes: segment.view(),
  };
}
