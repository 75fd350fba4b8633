/**
 * Names of records under any prefix. What the model gives out carries the configured prefix; what
 * comes in may carry any: `com.linkedin.pegasus2avro.common.Status`, `org.acme.common.Status` and
 * `com.linkedin.common.Status` name one record.
 */

/** The prefix that the schemas of avro/ are written with. */
export const WRITTEN_PREFIX = "com.linkedin";

/** A longer text is no record name; looking for its suffixes would only cost time. */
const nameLengthMax = 512;

/** The name as the model gives it out. A name outside the written prefix stays as it is. */
export function withPrefix(name: string, prefix: string): string {
  return name.startsWith(`${WRITTEN_PREFIX}.`) ? prefix + name.slice(WRITTEN_PREFIX.length) : name;
}

/** The part after the last dot. */
const simpleName = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

type FindByName<T> = (name: string) => T | undefined;

/**
 * Finds by full name; else by the longest part of the name that is, after the prefix, a known name;
 * else by the simple name where only one entry has it.
 */
export function createNameIndex<T>(
  entries: Iterable<readonly [name: string, value: T]>,
  prefix: string,
): FindByName<T> {
  const known = new Map<string, T>();
  const bySimpleName = new Map<string, T | undefined>();
  for (const [name, value] of entries) {
    known.set(name, value);
    if (name.startsWith(`${prefix}.`)) known.set(name.slice(prefix.length + 1), value);
    const simple = simpleName(name);
    // Two entries of one simple name: neither can be meant by it.
    bySimpleName.set(simple, bySimpleName.has(simple) ? undefined : value);
  }
  return (name) => {
    const exact = known.get(name);
    if (exact !== undefined || name.length > nameLengthMax) return exact;
    for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
      const found = known.get(name.slice(dot + 1));
      if (found !== undefined) return found;
    }
    return bySimpleName.get(simpleName(name));
  };
}
