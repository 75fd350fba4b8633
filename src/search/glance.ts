/**
 * A glance at a stored document: whether it may fulfil an expression, without reading it. Most that
 * are looked at one by one do not, and to read one takes several times as long. Pure.
 *
 * Every text that is asked for is somewhere in the stored form (stored-document.ts), as it is or in
 * other letter cases; of a whole text the quotation mark before it, too.
 */
import type { Expression } from "./search.ts";

/** Takes a stored document; false where it cannot fulfil the expression. */
export type Glance = (json: string) => boolean;

/** Undefined where nothing can be told at a glance. */
export function createGlance(expression: Expression): Glance | undefined {
  const inLowerCase = compile(expression);
  return inLowerCase && ((json) => inLowerCase(json.toLowerCase()));
}

function compile(expression: Expression): Glance | undefined {
  switch (expression.kind) {
    case "word":
      return anyOf(expression.any.map(({ word }) => containing(word, within)));
    case "phrase":
      return containing(expression.words.join(" "), within);
    case "whole":
      return containing(expression.text, expression.prefix ? beginning : whole);
    case "and": {
      const known = expression.all.flatMap((one) => compile(one) ?? []);
      return known.length === 0 ? undefined : (json) => known.every((one) => one(json));
    }
    case "or":
      return anyOf(expression.any.map(compile));
    case "prefer":
      return compile(expression.base);
    default:
      return undefined;
  }
}

function anyOf(all: readonly (Glance | undefined)[]): Glance | undefined {
  const known = all.filter((one) => one !== undefined);
  return known.length < all.length ? undefined : (json) => known.some((one) => one(json));
}

/** Half characters, and what stands for them, are written in several ways. */
function containing(text: string, part: (json: string) => string): Glance | undefined {
  if (!text.isWellFormed() || text.includes("\ufffd")) return undefined;
  const wanted = part(JSON.stringify(text)).toLowerCase();
  return (json) => json.includes(wanted);
}

// Of a text as JSON.
const within = (json: string): string => json.slice(1, -1);
const beginning = (json: string): string => json.slice(0, -1);
const whole = (json: string): string => json;
