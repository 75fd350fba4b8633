/**
 * The protocol version of a request, and the form of its response: DataHub's for requests with
 * X-RestLi-Protocol-Version, that of Annals for all others.
 */
import type { IncomingHttpHeaders } from "node:http";
import { CatalogError } from "../../core/errors.ts";

export type WireForm = "datahub" | "annals";

export interface Protocol {
  /** As sent; "1.0.0" when absent. */
  readonly version: string;
  readonly wireForm: WireForm;
  /** A `+` in a path or query is a blank: an explicit protocol 1.0.0. */
  readonly plusIsBlank: boolean;
  /** Headers of the response that carry the version. */
  readonly echo: readonly string[];
  /** The error for an unsupported version. */
  readonly fault?: CatalogError | undefined;
}

const DATAHUB_HEADER = "x-restli-protocol-version";
const FRAMEWORK_HEADER = "x-framework-protocol-version";
const VERSION = /^(\d)(?:\.(\d+))?(?:\.(\d+))?$/;

const protocol = (version: string, wireForm: WireForm, plusIsBlank: boolean): Protocol => ({
  version,
  wireForm,
  plusIsBlank,
  echo: wireForm === "datahub" ? [DATAHUB_HEADER] : [DATAHUB_HEADER, FRAMEWORK_HEADER],
});

/** The protocols of nearly all requests, created once. */
const DEFAULT: Protocol = { ...protocol("1.0.0", "annals", false), echo: [DATAHUB_HEADER] };
const DATAHUB_2 = protocol("2.0.0", "datahub", false);
const ANNALS_2 = protocol("2.0.0", "annals", false);

/** Accepts 1.0.0 to 2.0.0 in one to three parts. Never throws; the result holds the error. */
export function readProtocol(headers: IncomingHttpHeaders): Protocol {
  const datahub = headers[DATAHUB_HEADER];
  const other = headers[FRAMEWORK_HEADER];
  if (datahub === undefined && other === undefined) return DEFAULT;
  if (datahub === "2.0.0" && other === undefined) return DATAHUB_2;
  if (other === "2.0.0" && datahub === undefined) return ANNALS_2;
  return readUncommon(
    [datahub, other].filter((value) => value !== undefined).join(","),
    datahub === undefined ? "annals" : "datahub",
    other === undefined ? [DATAHUB_HEADER] : [DATAHUB_HEADER, FRAMEWORK_HEADER],
  );
}

function readUncommon(text: string, wireForm: WireForm, echo: readonly string[]): Protocol {
  const versions = new Set(text.split(",").map((version) => version.trim()));
  const [version = ""] = versions;
  const [, major = "9", minor = "0", patch = "0"] = VERSION.exec(version) ?? [];
  const number = Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch);
  const supported = versions.size === 1 && number >= 1e6 && number <= 2e6;
  if (supported) return { version, wireForm, plusIsBlank: number === 1e6, echo };
  const shown = (versions.size === 1 ? version : text).slice(0, 40);
  return {
    version: shown,
    wireForm,
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
