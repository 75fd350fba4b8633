/**
 * Kinds of settings: how the text of a flag or a variable becomes a value, which texts are allowed,
 * and how a value is shown again. Parsing what is shown gives the same value, but for passwords.
 */
import { isIP } from "node:net";
import { delimiter, resolve } from "node:path";
import { withoutPassword } from "../lib/connection-string.ts";
import { groupDigits } from "../lib/format.ts";

export interface Kind<T> {
  /** Stands for the value in `--help`: <port>. */
  readonly placeholder: string;
  /** Allowed values, to follow "is allowed:". */
  readonly allowed: string;
  /** undefined: not allowed. */
  readonly parse: (text: string) => T | undefined;
  readonly show: (value: T) => string;
}

export function text(placeholder: string, allowed: string, shape: RegExp): Kind<string> {
  return {
    placeholder,
    allowed,
    parse: (given) => (shape.test(given) ? given : undefined),
    show: (value) => value,
  };
}

/** A text that is never printed. */
export const secret: Kind<string> = {
  placeholder: "secret",
  allowed: "any text",
  parse: (given) => given,
  show: (value) => (value === "" ? "" : "********"),
};

export function choice<const T extends string>(placeholder: string, values: readonly T[]): Kind<T> {
  return {
    placeholder,
    allowed: values.join(", "),
    parse: (given) => values.find((value) => value === given),
    show: (value) => value,
  };
}

export function wholeNumber(placeholder: string, min: number, max: number): Kind<number> {
  return {
    placeholder,
    allowed: `a whole number from ${groupDigits(min)} to ${groupDigits(max)}`,
    parse: (given) => within(/^\d{1,15}$/.test(given) ? Number(given) : undefined, min, max),
    show: String,
  };
}

const units = { "": 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** A list of words from a set, separated by commas, at least one. */
export function choices<const T extends string>(
  placeholder: string,
  values: readonly T[],
): Kind<readonly T[]> {
  return {
    placeholder,
    allowed: `one or more of ${values.join(", ")}, separated by commas`,
    parse(given) {
      const words = given.split(",").map((word) => word.trim());
      const found = words.map((word) => values.find((value) => value === word));
      return found.every((value) => value !== undefined)
        ? Object.freeze([...new Set(found)])
        : undefined;
    },
    show: (value) => value.join(","),
  };
}

/** The value for a store in the data directory. */
export const embedded = "embedded";

/** Where a store is: in the data directory, or at a URL of one of some schemes. */
export function store(schemes: readonly string[], example: string): Kind<string> {
  const shape = new RegExp(`^(?:${schemes.map(RegExp.escape).join("|")})://\\S+$`);
  return {
    placeholder: "store",
    allowed: `"${embedded}" or a URL like ${example}`,
    parse: (given) => (given === embedded || shape.test(given) ? given : undefined),
    show: withoutPassword,
  };
}

/** Addresses of servers, or none in an empty text. */
export function servers(example: string): Kind<string> {
  return {
    placeholder: "servers",
    allowed: `addresses like ${example}`,
    parse: (given) => (/^\S*$/.test(given) ? given : undefined),
    show: withoutPassword,
  };
}

/** A number of bytes, with or without a unit: 16000000, 64MiB. */
export function bytes(min: number, max: number): Kind<number> {
  const parse = (given: string): number | undefined => {
    const [, count, unit = ""] = /^(\d{1,15}) ?([kKMG]i?B)?$/.exec(given) ?? [];
    const factor = (units as Record<string, number>)[unit];
    if (count === undefined || factor === undefined) return undefined;
    return within(Number(count) * factor, min, max);
  };
  return {
    placeholder: "bytes",
    allowed: `a number of bytes from ${showBytes(min)} to ${showBytes(max)}, like 500000, 64MiB or 1GB`,
    parse,
    show: showBytes,
  };
}

/** An absolute path; a relative one counts from the working directory. */
export const directory: Kind<string> = {
  placeholder: "directory",
  allowed: "the path of a directory",
  parse: toPath,
  show: (value) => value,
};

/** An absolute path of a file, or none in an empty text. */
export const optionalFile: Kind<string> = {
  placeholder: "file",
  allowed: "the path of a file",
  parse: (given) => (given === "" ? "" : toPath(given)),
  show: (value) => value,
};

/** Several paths in one text, separated as in PATH; none in an empty one. */
export const directories: Kind<readonly string[]> = {
  placeholder: "directories",
  allowed: `paths of directories, separated by "${delimiter}"`,
  parse(given) {
    const paths = given === "" ? [] : given.split(delimiter).map(toPath);
    return paths.every((path) => path !== undefined) ? Object.freeze(paths) : undefined;
  },
  show: (value) => value.join(delimiter),
};

const HOST = /^[\w.:-]{1,255}$/;

/** Host names and IP addresses without ports, separated by commas; an empty text has none. */
export const hostNames: Kind<readonly string[]> = {
  placeholder: "hosts",
  allowed: "host names or IP addresses without a port, separated by commas",
  parse(given) {
    const names = given === "" ? [] : given.split(",").map((name) => name.trim());
    const wrong = names.some(
      (name) => !HOST.test(name) || (name.includes(":") && isIP(name) !== 6),
    );
    return wrong ? undefined : Object.freeze(names);
  },
  show: (value) => value.join(","),
};

/** Origins of web pages, separated by commas, as browsers send them; an empty text has none. */
export const origins: Kind<readonly string[]> = {
  placeholder: "origins",
  allowed: "origins like https://catalog.example.org or http://localhost:3000, separated by commas",
  parse(given) {
    const found = given === "" ? [] : given.split(",").map((text) => originOf(text.trim()));
    return found.every((origin) => origin !== undefined) ? Object.freeze(found) : undefined;
  },
  show: (value) => value.join(","),
};

/** The origin in a browser's form; undefined for a text with a path, a user or another scheme. */
function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\/[^/?#@\\*]+$/i.test(text)) return undefined;
  return url.origin;
}

function toPath(given: string): string | undefined {
  return given.trim() === "" || given.includes("\0") ? undefined : resolve(given);
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

/** Formats bytes in whole GiB or MiB if possible: 67108864 → 64MiB, 2048 → 2048. */
function showBytes(value: number): string {
  for (const unit of ["GiB", "MiB"] as const) {
    if (value >= units[unit] && value % units[unit] === 0) return `${value / units[unit]}${unit}`;
  }
  return String(value);
}
