/** A response text that does not change, such as a document: its entity tag and compressed forms are computed once. */
import { type Coding, compress } from "../hooks/content-coding.ts";
import { entityTagOf } from "./entity-tags.ts";

export interface FixedText {
  readonly text: string;
  readonly entityTag: string;
  /** The text in a coding. */
  compressed(coding: Coding): Promise<Buffer>;
}

export function createFixedText(text: string): FixedText {
  const forms = new Map<Coding, Promise<Buffer>>();
  return {
    text,
    entityTag: entityTagOf(text),
    compressed(coding) {
      const form = forms.get(coding) ?? compress(text, coding, "small");
      forms.set(coding, form);
      return form;
    },
  };
}
