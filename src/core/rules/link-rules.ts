/**
 * Rules for links: http, https, ftp and mailto, and no address of a private network. A page or preview
 * service that fetches a link from inside that network would reach its internal servers.
 *
 * Names are not resolved: the name of a host in a private network is accepted.
 */

import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { shortened } from "../../lib/shortened.ts";
import { CatalogError } from "../errors.ts";

const SCHEMES: readonly string[] = ["http:", "https:", "ftp:", "mailto:"];

/** A picture may be an asset of the web app: `assets/platforms/default_avatar.png`. */
const ASSET = /^\/?assets\//;

interface Link {
  readonly path: string;
  readonly url: string;
}

/** The error of the first invalid link; undefined when there is none. Links of `previous` may stay. */
export function rejectionOfLinks(
  aspect: string,
  value: JsonObject,
  previous: JsonObject | undefined,
): CatalogError | undefined {
  const before = new Set((previous === undefined ? [] : linksOf(previous)).map(({ url }) => url));
  for (const { path, url } of linksOf(value)) {
    const fault = before.has(url) ? undefined : faultOfLink(url);
    if (fault === undefined) continue;
    return new CatalogError(
      "invalid",
      `aspect "${aspect}", ${path}: link "${shortened(url)}": ${fault.what}`,
      {
        hint: fault.hint,
      },
    );
  }
  return undefined;
}

/** The elements of institutionalMemory; the picture of a user or group. */
function linksOf({ elements, pictureLink }: JsonObject): readonly Link[] {
  const listed = Array.isArray(elements) ? elements : [];
  const links = listed.flatMap((one, i) =>
    jsonObject(one) ? [{ path: `/elements/${i}/url`, url: String(one.url) }] : [],
  );
  if (typeof pictureLink !== "string" || pictureLink.trim() === "" || ASSET.test(pictureLink)) {
    return links;
  }
  return [...links, { path: "/pictureLink", url: pictureLink }];
}

interface Fault {
  readonly what: string;
  readonly hint: string;
}

/** Uses the URL parser of browsers, so that it finds the same scheme and host. */
function faultOfLink(url: string): Fault | undefined {
  if (!URL.canParse(url)) {
    return { what: "not a URL", hint: "Write it with its scheme: https://example.com/page" };
  }
  const { protocol, hostname } = new URL(url);
  if (!SCHEMES.includes(protocol)) {
    const scheme = protocol.slice(0, -1);
    return {
      what: `URL scheme '${scheme}' is not allowed`,
      hint: "Use http, https, ftp or mailto",
    };
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
