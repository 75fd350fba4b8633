/** Redacts secrets in events: values of members named like a secret, and passwords in URLs. */
import { jsonObject } from "../lib/json.ts";

export const REDACTED = "***";

const SECRET_NAME =
  /secret|token|passw|passphrase|\bpwd\b|_pwd|credential|authorization|(?:^|[._-])(?:auth|key)$|(?:api|access|account|private|encryption|shared)[._-]?key/i;

export const isSecretName = (name: string): boolean => name !== "key" && SECRET_NAME.test(name);

/** `jdbc:postgres://user:password@host` without the password. */
export const withoutCredentials = (text: string): string =>
  text
    .replace(/(:\/\/[^/:@\s]*:)[^@/\s]+@/g, `$1${REDACTED}@`)
    .replace(/\b(password|pwd)=[^&;\s]+/gi, `$1=${REDACTED}`);

/** The value with its secrets replaced. */
export function redacted(value: unknown): unknown {
  if (typeof value === "string") return withoutCredentials(value);
  if (Array.isArray(value)) return value.map(redacted);
  if (!jsonObject(value)) return value;
  // A member `name` or `key` holds the name of its neighbor `value`.
  const named = [value.name, value.key].some((name) => isSecretName(String(name ?? "")));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const secret = isSecretName(name) || (named && name === "value");
      return [name, secret && !isStructure(member) ? REDACTED : redacted(member)];
    }),
  );
}

const isStructure = (value: unknown): boolean => typeof value === "object" && value !== null;
