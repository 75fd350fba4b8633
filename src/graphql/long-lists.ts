/**
 * Lists of thousands of items. `graphql` completes a list in one piece, which blocks the thread for seconds if
 * an aspect has some 100,000 properties. An item that is a promise is completed on its own.
 */
import { defaultFieldResolver, type GraphQLFieldResolver } from "graphql";

const pieceItems = 1_000;

/** As `defaultFieldResolver`; other work of the thread runs between two pieces of a long list. */
export const resolveField: GraphQLFieldResolver<unknown, unknown> = (
  source,
  args,
  viewer,
  info,
) => {
  const value: unknown = defaultFieldResolver(source, args, viewer, info);
  return Array.isArray(value) && value.length > pieceItems ? inPieces(value) : value;
};

/**
 * Returns the same items. A long list is split into pieces, and other work of the thread runs between
 * them.
 */
export function inPieces(items: readonly unknown[]): readonly unknown[] {
  let turn: Promise<void> = Promise.resolve();
  return items.map((item, index) => {
    if (index < pieceItems) return item;
    if (index % pieceItems === 0) turn = turn.then(nextTurn);
    return turn.then(() => item);
  });
}

const nextTurn = () => new Promise<void>((begin) => setImmediate(begin));
