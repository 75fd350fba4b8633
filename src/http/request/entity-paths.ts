/**
 * Paths of the OpenAPI endpoints that end with a urn, or with a urn and an aspect. Clients send the urn
 * as it is, with its slashes; the router splits at slashes. Here each part becomes one segment.
 *
 *   /openapi/v3/entity/dataset/urn:li:dataset:(urn:li:dataPlatform:s3,a/b,PROD)/status
 *   → /openapi/v3/entity/dataset/urn:li:dataset:(urn:li:dataPlatform:s3,a%2Fb,PROD)/status
 *
 * What follows the last slash is an aspect where the urn before it is closed by a bracket, or where the
 * model has an aspect of that name. Nothing is decoded here.
 */
import type { EntityOutline } from "../docs/docs-model.ts";

const BEFORE_URN = /^(\/openapi\/v[23]\/(?:entity|relationship)\/[^/]+\/)(urn(?::|%3A).*\/.*)$/is;

export function createEntityPaths(entities: readonly EntityOutline[]): (path: string) => string {
  const aspects = new Set(
    entities.flatMap((entity) => entity.aspects.map(({ name }) => name.toLowerCase())),
  );

  return (path) => {
    const [, head, tail] = BEFORE_URN.exec(path) ?? [];
    if (head === undefined || tail === undefined) return path;
    const slash = tail.lastIndexOf("/");
    const urn = tail.slice(0, slash);
    const last = tail.slice(slash + 1);
    const aspect = /(?:\)|%29)$/i.test(urn) || aspects.has(last.toLowerCase());
    return aspect ? `${head}${oneSegment(urn)}/${last}` : `${head}${oneSegment(tail)}`;
  };
}

const oneSegment = (raw: string): string => raw.replaceAll("/", "%2F");
