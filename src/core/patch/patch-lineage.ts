/**
 * Column lineages in a patch. Their array holds {downstreams: [d], upstreams: [u, …],
 * transformOperation?, query?, confidenceScore}; a path names one upstream of one of them:
 * `/fineGrainedLineages/<transformOperation>/<d>/<query>/<u>`, with NONE for an absent part. The
 * value at the path is {confidenceScore}. A lineage without upstreams is removed.
 */
import { jsonObject } from "../../lib/json.ts";
import { CatalogError } from "../errors.ts";
import { LINEAGES, NO_LINEAGE_KEY, shown } from "./patch-keys.ts";
import type { PatchTarget } from "./patch-members.ts";
import { canonical, type Members } from "./patch-members.ts";

interface Lineage {
  upstreams?: unknown;
  confidenceScore?: unknown;
}

/** Segments that name one upstream of one lineage. */
const DEPTH = LINEAGES.depth + 1;

/** The target of `segments` in the lineages; `upstreamsOf` opens the upstreams of a lineage. */
export function lineageTarget(
  lineages: Members,
  segments: readonly string[],
  upstreamsOf: (lineage: object) => Members,
): PatchTarget {
  if (segments.length > DEPTH) {
    throw new CatalogError("invalid", "a column lineage has no fields below an upstream", {
      hint: `Use a path of at most ${DEPTH} keys: transformOperation, downstream, query, upstream`,
    });
  }
  const upstream = segments.length === DEPTH ? segments[DEPTH - 1] : undefined;
  const group = segments.slice(0, LINEAGES.depth);
  const found = () => lineages.find(group.map(keyOf));

  const removeUpstream = (id: number, urn: string) => {
    const lineage = lineages.get(id) as object;
    const upstreams = upstreamsOf(lineage);
    upstreams.replace(upstreams.find([canonical(urn)]), []);
    if (upstreams.size() === 0) lineages.replace([id], []);
  };
  const addUpstream = (keys: readonly string[], value: unknown) => {
    const [operation = "", downstream = "", query = "", urn = ""] = keys;
    const [known] = lineages.find(keys.slice(0, LINEAGES.depth).map(keyOf));
    const lineage: Lineage =
      known === undefined
        ? lineageOf(operation, downstream, query, urn)
        : (lineages.get(known) as object);
    if (known === undefined) lineages.add(lineage);
    const upstreams = upstreamsOf(lineage);
    upstreams.replace(upstreams.find([canonical(urn)]), [urn]);
    // A lineage has one score for all its upstreams: the last one wins.
    const score = jsonObject(value) ? value.confidenceScore : undefined;
    if (typeof score === "number") lineage.confidenceScore = score;
  };
  const put = (keys: readonly string[], value: unknown): void => {
    if (keys.length === DEPTH) addUpstream(keys, value);
    else if (Array.isArray(value)) {
      for (const member of value) put(keys, member);
    } else if (!jsonObject(value)) {
      throw new CatalogError("invalid", `a column lineage is an object, not ${shown(value)}`);
    } else if ("upstreamType" in value || "downstreamType" in value) {
      const texts = LINEAGES.textsOf(value);
      lineages.replace(texts.length === 0 ? [] : lineages.find(texts), [value]);
    } else {
      for (const [key, inner] of Object.entries(value)) put([...keys, key], inner);
    }
  };
  const add = (value: unknown) => {
    if (upstream === undefined) lineages.replace(found(), []);
    put(segments, value);
  };

  return {
    read() {
      const members = found().map((id) => lineages.get(id));
      if (upstream === undefined) return members.length === 0 ? undefined : members;
      const lineage = members.find((member) => {
        return upstreamsOf(member as object).find([canonical(upstream)]).length > 0;
      }) as Lineage | undefined;
      return lineage && { confidenceScore: lineage.confidenceScore };
    },
    add,
    replace: add,
    remove() {
      if (upstream === undefined) lineages.replace(found(), []);
      else for (const id of found()) removeUpstream(id, upstream);
    },
  };
}

const keyOf = (segment: string): string => (segment === "" ? NO_LINEAGE_KEY : canonical(segment));

const lineageOf = (operation: string, downstream: string, query: string, upstream: string) => ({
  upstreamType: /^urn:[^:]+:dataset:/.test(upstream) ? "DATASET" : "FIELD_SET",
  upstreams: [],
  downstreamType: "FIELD",
  downstreams: [downstream],
  ...(keyOf(operation) !== NO_LINEAGE_KEY && { transformOperation: operation }),
  ...(keyOf(query) !== NO_LINEAGE_KEY && { query }),
});
