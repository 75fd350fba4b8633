/** Builds a segment: the terms of the documents' texts, and the doc values of their fields. */
import type { FieldValue, SearchDocument } from "../../search.ts";
import { ByteWriter, narrowed } from "./bytes.ts";
import { DictionaryWriter } from "./dictionary.ts";
import { FieldBuilder } from "./field-builder.ts";
import { type SegmentDirectory, typeField } from "./segment.ts";
import { TermsBuilder } from "./terms-builder.ts";

export interface BuiltSegment {
  readonly directory: SegmentDirectory;
  readonly bytes: Uint8Array;
}

/** `documents`: in the order of their urns. Returns undefined without documents. */
export function buildSegment(
  documents: Iterable<{ readonly id: number; readonly document: SearchDocument }>,
): BuiltSegment | undefined {
  const ids: number[] = [];
  const core = new ByteWriter();
  const urns = new DictionaryWriter(core);
  const terms = new TermsBuilder();
  const fields = new Map<string, FieldBuilder>();
  const add = (name: string, doc: number, values: readonly FieldValue[]): void => {
    if (values.length === 0) return;
    const field = fields.get(name) ?? new FieldBuilder();
    fields.set(name, field);
    for (const value of values) field.add(doc, value);
  };
  for (const { id, document } of documents) {
    const doc = ids.push(id) - 1;
    urns.add(document.urn);
    terms.add(doc, document.texts);
    add(typeField, doc, [document.entityType]);
    for (const [name, values] of Object.entries(document.values)) add(name, doc, values);
  }
  if (ids.length === 0) return undefined;
  const segment = new ByteWriter();
  const lastId = ids.reduce((last, id) => Math.max(last, id));
  const directory = {
    ...{ docs: ids.length, urns: urns.end(), ids: core.section(narrowed(ids, lastId)) },
    terms: terms.write(core, segment),
    core: segment.section(core.view()),
    fields: Array.from(fields, ([name, field]) => {
      const writer = new ByteWriter();
      const entry = field.write(writer, name, ids.length);
      return { entry, part: segment.section(writer.view()) };
    }),
  };
  return { directory, bytes: segment.view() };
}
