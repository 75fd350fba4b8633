/**
 * The protocol version of a request and the dialect that its header's spelling chooses: clients of
 * the reference send X-RestLi-Protocol-Version; anyone else is answered as the interface says.
 */
import type { IncomingHttpHeaders } from "node:http";
import { CatalogError } from "../core/errors.ts";

export type Dialect = "reference" | "interface";

export interface Protocol {
  /** As it was sent; "1.0.0" when it was not. */
  readonly version: string;
  readonly dialect: Dialect;
  /** A `+` in a path or query is a blank: protocol 1.0.0, and said so. */
  readonly plusIsBlank: boolean;
  /** Names of the headers that tell the version back. */
  readonly echo: readonly string[];
  /** Why the version is refused. */
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

/** Nearly every request has one of these: made once. */
const UNNAMED: Protocol = { ...protocol("1.0.0", "interface", false), echo: [REFERENCE] };
const REFERENCE_2 = protocol("2.0.0", "reference", false);
const INTERFACE_2 = protocol("2.0.0", "interface", false);

/** Accepts 1.0.0 to 2.0.0 in one to three parts. Never throws: the fault is told in the answer. */
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

/** Header that marks an answer as an error; its name is older in versions below 2.0.0. */
export const errorHeaderOf = (version: string): string =>
  version.startsWith("1") ? "x-linkedin-error-response" : "x-restli-error-response";
