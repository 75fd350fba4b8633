/**
 * Looks up a name that may come from outside. `table[name]` would also find inherited members, such as
 * the function "constructor".
 */

/** The value of the table's own property; undefined where it has none of that name. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
