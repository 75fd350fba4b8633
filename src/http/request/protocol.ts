/**
 * The protocol version of a request, and the dialect of its response: DataHub's for requests with
 * X-RestLi-Protocol-Version, ours for all others.
 */
import type { IncomingHttpHeaders } from "node:http";
import { CatalogError } from "../../core/errors.ts";

export type Dialect = "reference" | "interface";

export interface Protocol {
  /** As sent; "1.0.0" when absent. */
  readonly version: string;
  readonly dialect: Dialect;
  /** A `+` in a path or query is a blank: an explicit protocol 1.0.0. */
  readonly plusIsBlank: boolean;
  /** Headers of the response that carry the version. */
  readonly echo: readonly string[];
  /** The error for an unsupported version. */
  readonly fault?: CatalogError | undefined;
}

const REFERENCE = "x-restli-protocol-version";
const INTERFACE = "x-framework-protocol-version";
const VERSION = /^(\d)(?:\.(\d+))?(?:\.(\d+))?$/;

const protocol = (version: string, dialect: Dialect, plusIsBlank: boolean): Protocol => ({
  version,
  dialect,
  plusIsBlank,
  echo: dialect === "reference" ? [REFERENCE] : [REFERENCE, INTERFACE],
});

/** The protocols of nearly all requests, created once. */
const UNNAMED: Protocol = { ...protocol("1.0.0", "interface", false), echo: [REFERENCE] };
const REFERENCE_2 = protocol("2.0.0", "reference", false);
const INTERFACE_2 = protocol("2.0.0", "interface", false);

/** Accepts 1.0.0 to 2.0.0 in one to three parts. Never throws; the result holds the error. */
export function readProtocol(headers: IncomingHttpHeaders): Protocol {
  const reference = headers[REFERENCE];
  const other = headers[INTERFACE];
  if (reference === undefined && other === undefined) return UNNAMED;
  if (reference === "2.0.0" && other === undefined) return REFERENCE_2;
  if (other === "2.0.0" && reference === undefined) return INTERFACE_2;
  return readUncommon(
    [reference, other].filter((value) => value !== undefined).join(","),
    reference === undefined ? "interface" : "reference",
    other === undefined ? [REFERENCE] : [REFERENCE, INTERFACE],
  );
}

function readUncommon(text: string, dialect: Dialect, echo: readonly string[]): Protocol {
  const versions = new Set(text.split(",").map((version) => version.trim()));
  const [version = ""] = versions;
  const [, major = "9", minor = "0", patch = "0"] = VERSION.exec(version) ?? [];
  const number = Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch);
  const supported = versions.size === 1 && number >= 1e6 && number <= 2e6;
  if (supported) return { version, dialect, plusIsBlank: number === 1e6, echo };
  const shown = (versions.size === 1 ? version : text).slice(0, 40);
  return {
    version: shown,
    dialect,
    plusIsBlank: false,
    echo,
    fault: new CatalogError(
      "malformed",
      `Rest.li protocol version ${shown} used by the client is not supported!`,
    ),
  };
}

/** Header that marks an error response; versions below 2.0.0 use its older name. */
export const errorHeaderOf = (version: string): string =>
  version.startsWith("1") ? "x-linkedin-error-response" : "x-restli-error-response";
