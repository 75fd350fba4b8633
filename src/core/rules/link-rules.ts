/**
 * Rules for links. A page link is shown as a link, frame or picture. It may have any scheme with which a
 * browser runs no script and opens no page of the author of the metadata: sources have links such as
 * `s3://bucket/key`, and a picture may be `data:image/png`.
 *
 * Preview services also fetch the links of institutionalMemory and the pictures of people: these have a
 * scheme, http, https, ftp or mailto, and no address of a private network, because a service that fetches
 * a link from inside that network would reach its internal servers. Names are not resolved: the name of a
 * host in a private network is accepted.
 */

import type { JsonObject } from "../../lib/json.ts";
import { shortened } from "../../lib/shortened.ts";
import { CatalogError } from "../errors.ts";

const SCRIPT_SCHEMES: readonly string[] = ["javascript:", "vbscript:", "data:"];
const FETCHED_SCHEMES: readonly string[] = ["http:", "https:", "ftp:", "mailto:"];

/** A picture may be an asset of the web app: `assets/platforms/default_avatar.png`. */
const ASSET = /^\/?assets\//;

type LinkKind = "page" | "fetched" | "picture";

/** A field of an aspect with a link; `*` stands for each item of an array and each member of a map. */
export interface LinkPath {
  readonly path: readonly string[];
  readonly kind: LinkKind;
}

/** Fields with page links in any record. */
const pageLinks: ReadonlySet<string> = new Set([
  ...["externalUrl", "renderUrl", "logoUrl", "linkUrl", "imageUrl", "chartUrl", "dashboardUrl"],
  ...["sourceUrl", "sourceCodeUrl", "requestUrl", "homepageUrl", "profilePictureUrl"],
  ...["accessDeniedRedirectUrl", "outputUrls"],
]);

/** Fields with links in one record, by `<name of the record>.<field>`. */
const recordLinks: ReadonlyMap<string, LinkKind> = new Map<string, LinkKind>([
  ["InstitutionalMemoryMetadata.url", "fetched"],
  ["CorpUserEditableInfo.pictureLink", "picture"],
  ["CorpGroupEditableInfo.pictureLink", "picture"],
  ["IncidentExternalLink.url", "page"],
  ["McpServerProperties.url", "page"],
  ["Media.location", "page"],
  ["OwnershipSource.url", "page"],
  ["PostContent.link", "page"],
  ["SkillSourceRepository.url", "page"],
]);

/** The kind of link in a field of text; undefined if it is not a link. `record`: without namespace. */
export const linkKindOf = (record: string, field: string): LinkKind | undefined =>
  recordLinks.get(`${record}.${field}`) ?? (pageLinks.has(field) ? "page" : undefined);

interface Link {
  readonly path: string;
  readonly url: string;
  readonly kind: LinkKind;
}

/** The error of the first invalid link; undefined when there is none. Links of `previous` may stay. */
export function rejectionOfLinks(
  aspect: string,
  value: JsonObject,
  previous: JsonObject | undefined,
  paths: readonly LinkPath[],
): CatalogError | undefined {
  let before: ReadonlySet<string> | undefined;
  for (const { path, url, kind } of linksIn(value, paths)) {
    const fault = kind === "page" ? faultOfPageLink(url) : faultOfFetchedLink(url, kind);
    if (fault === undefined) continue;
    before ??= new Set([...linksIn(previous, paths)].map((link) => link.url));
    if (before.has(url)) continue;
    return new CatalogError(
      "invalid",
      `aspect "${aspect}", ${path}: link "${shortened(url)}": ${fault.what}`,
      { hint: fault.hint },
    );
  }
  return undefined;
}

function* linksIn(
  value: JsonObject | undefined,
  paths: readonly LinkPath[],
): Generator<Link, undefined> {
  for (const { path, kind } of paths) yield* linksAt(value, path, kind, "");
}

function* linksAt(
  value: unknown,
  [name, ...rest]: readonly string[],
  kind: LinkKind,
  path: string,
): Generator<Link, undefined> {
  if (name === undefined) {
    if (typeof value === "string") yield { path, url: value, kind };
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [member, one] of Object.entries(value)) {
    if (name === "*" || name === member) yield* linksAt(one, rest, kind, `${path}/${member}`);
  }
}

interface Fault {
  readonly what: string;
  readonly hint: string;
}

/** A relative address gets the scheme of the page. */
const PAGE = "https://page.invalid/";

/** Uses the URL parser of browsers, so that it finds the same scheme. */
function faultOfPageLink(url: string): Fault | undefined {
  if (!URL.canParse(url, PAGE)) return undefined;
  const { protocol, pathname } = new URL(url, PAGE);
  if (!SCRIPT_SCHEMES.includes(protocol)) return undefined;
  return isRaster({ protocol, pathname }) ? undefined : faultOfScheme(protocol, "http or https");
}

/** Returns true if a page may show the text as a link. */
export const isPageLink = (url: string): boolean => faultOfPageLink(url) === undefined;

/** A picture in the link itself; an SVG may contain scripts. */
const isRaster = ({ protocol, pathname }: Pick<URL, "protocol" | "pathname">): boolean =>
  protocol === "data:" && /^image\/(?!svg)/i.test(pathname);

const faultOfScheme = (protocol: string, allowed: string): Fault => ({
  what: `URL scheme '${protocol.slice(0, -1)}' is not allowed`,
  hint: `Use ${allowed}`,
});

/** Uses the URL parser of browsers, so that it finds the same scheme and host. */
function faultOfFetchedLink(url: string, kind: LinkKind): Fault | undefined {
  if (kind === "picture" && (url.trim() === "" || ASSET.test(url))) return undefined;
  if (!URL.canParse(url)) {
    return { what: "not a URL", hint: "Write it with its scheme: https://example.com/page" };
  }
  const parsed = new URL(url);
  const { protocol, hostname } = parsed;
  if (kind === "picture" && isRaster(parsed)) return undefined;
  if (!FETCHED_SCHEMES.includes(protocol)) {
    return faultOfScheme(protocol, "http, https, ftp or mailto");
  }
  if (protocol === "mailto:" || !isInternal(hostname)) return undefined;
  return {
    what: `"${hostname}" is a loopback, link-local or private address`,
    hint: "Link to a public address, or to a host by its name",
  };
}

/** `host`: as `URL` returns it, IPv4 as four decimal numbers, IPv6 shortened and in brackets. */
function isInternal(host: string): boolean {
  const name = host.replace(/\.$/, "");
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  if (name.startsWith("[")) return isInternalV6(groupsOf(name.slice(1, -1)));
  const bytes = /^\d+\.\d+\.\d+\.\d+$/.test(name) ? name.split(".").map(Number) : [];
  return bytes.length === 4 && isInternalV4(bytes);
}

/** Ranges: this network, private, shared, loopback, link-local. */
function isInternalV4([a = 0, b = 0]: readonly number[]): boolean {
  if ([0, 10, 127].includes(a)) return true;
  if (a === 100) return b >= 64 && b < 128;
  if (a === 172) return b >= 16 && b < 32;
  return (a === 169 && b === 254) || (a === 192 && b === 168);
}

function isInternalV6(groups: readonly number[]): boolean {
  const [first = 0] = groups;
  // fe80::/10 is link-local, fec0::/10 and fc00::/7 are private.
  if ((first & 0xff80) === 0xfe80 || (first & 0xfe00) === 0xfc00) return true;
  const [high = 0, low = 0] = groups.slice(6);
  const zeros = (count: number) => groups.slice(0, count).every((group) => group === 0);
  // ::, ::1, and IPv4 addresses inside IPv6: ::a.b.c.d, ::ffff:a.b.c.d, 64:ff9b::a.b.c.d.
  const mapped =
    zeros(6) || (zeros(5) && groups[5] === 0xffff) || (first === 0x64 && groups[1] === 0xff9b);
  return mapped && isInternalV4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

/** The eight groups of an address: fe80::1 → [0xfe80, 0, 0, 0, 0, 0, 0, 1]. */
function groupsOf(address: string): readonly number[] {
  const [head = [], tail] = address.split("::").map(partsOf);
  if (tail === undefined) return head;
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

const partsOf = (text: string): readonly number[] =>
  text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
