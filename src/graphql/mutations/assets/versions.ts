/** Version sets: links an asset to the set as its latest version, and unlinks it. */
import type { Proposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { stampOf } from "../changes.ts";
import { patchOf, proposalOf, rejectMissing, urnOf, write } from "../writing.ts";

interface LinkInput {
  readonly versionSet: string;
  readonly linkedEntity: string;
  readonly version: string;
  readonly comment?: Maybe<string>;
  readonly sourceTimestamp?: Maybe<number>;
  readonly sourceCreator?: Maybe<string>;
}

const SCHEME = "ALPHANUMERIC_GENERATED_BY_DATAHUB";
const FIRST_SORT_ID = "AAAAAAAA";

/** AAAAAAAA → AAAAAAAB, AAAAAAAZ → AAAAAABA */
function nextSortId(sortId: string): string {
  const head = sortId.replace(/Z+$/, "");
  if (head === "") return `A${"A".repeat(sortId.length)}`;
  const last = String.fromCharCode(head.charCodeAt(head.length - 1) + 1);
  return head.slice(0, -1) + last + "A".repeat(sortId.length - head.length);
}

const sourceStampOf = ({ sourceTimestamp, sourceCreator }: LinkInput, { namespace }: Viewer) =>
  typeof sourceTimestamp === "number" && {
    sourceCreatedTimestamp: {
      time: sourceTimestamp,
      actor: sourceCreator ?? `urn:${namespace}:corpuser:unknown`,
    },
  };

/** Unmarks the latest version of the set. Rejected when another version was linked meanwhile. */
async function linkAssetVersion(_: never, { input }: { input: LinkInput }, viewer: Viewer) {
  const set = urnOf(input.versionSet, ["versionSet"], viewer);
  const urn = input.linkedEntity;
  await rejectMissing([urn], viewer);
  const [found] = await viewer.catalog.findEntities([set], ["versionSetProperties"]);
  const [properties] = found?.aspects ?? [];
  const linked = (await viewer.loader.load(urn)).aspect("versionProperties");
  if (linked !== undefined) {
    throw new CatalogError("invalid", `"${urn}" is in the version set "${linked.versionSet}"`, {
      hint: "Unlink it first",
    });
  }
  const latest = properties && String(JSON.parse(properties.value).latest);
  const before = latest && (await viewer.loader.load(latest)).aspect("versionProperties");
  const proposals: Proposal[] = [
    {
      ...proposalOf(set, "versionSetProperties", { latest: urn, versioningScheme: SCHEME }),
      headers: { "If-Version-Match": String(properties?.version ?? -1) },
    },
    {
      ...proposalOf(urn, "versionProperties", {
        versionSet: set,
        version: { versionTag: input.version },
        ...(input.comment && { comment: input.comment }),
        sortId: before ? nextSortId(String(before.sortId)) : FIRST_SORT_ID,
        versioningScheme: SCHEME,
        metadataCreatedTimestamp: stampOf(viewer),
        ...sourceStampOf(input, viewer),
        isLatest: true,
      }),
      headers: { "If-Version-Match": "-1" },
    },
  ];
  if (latest && before) {
    const operation = { op: "add", path: ["isLatest"], value: false } as const;
    proposals.push(patchOf(latest, "versionProperties", [operation]));
  }
  await write(proposals, viewer);
  return entityOf(set);
}

interface UnlinkInput {
  readonly versionSet?: Maybe<string>;
  readonly unlinkedEntity?: Maybe<string>;
}

const versionsMax = 10_000;

/** Rejected, like linking, when the set's latest version changed meanwhile. */
async function unlinkAssetVersion(_: never, { input }: { input: UnlinkInput }, viewer: Viewer) {
  const { catalog, loader } = viewer;
  const set = urnOf(input.versionSet ?? "", ["versionSet"], viewer);
  const urn = input.unlinkedEntity ?? "";
  await rejectMissing([set, urn], viewer);
  const [found] = await catalog.findEntities([set], ["versionSetProperties"]);
  const [properties] = found?.aspects ?? [];
  if ((await loader.load(urn)).aspect("versionProperties")?.versionSet !== set) {
    throw new CatalogError("invalid", `"${urn}" is not in the version set "${set}"`, {
      hint: "Read its version set in the aspect versionProperties",
    });
  }
  const listed = await catalog.listRelationships({
    urn: set,
    direction: "INCOMING",
    types: ["VersionOf"],
    start: 0,
    count: versionsMax,
  });
  const others = [];
  for (const one of listed.relationships) {
    const { aspect } = await loader.load(one.urn);
    const version = aspect("versionProperties");
    const isSoftDeleted = aspect("status")?.removed === true;
    if (one.urn !== urn && !isSoftDeleted && version?.versionSet === set) {
      others.push({ urn: one.urn, sortId: String(version.sortId) });
    }
  }
  const [next] = others.sort((a, b) => (a.sortId < b.sortId ? 1 : -1));
  const without = (of: string, aspectName: string): Proposal => ({
    entityType: entityTypeOf(of),
    entityUrn: of,
    changeType: "DELETE",
    aspectName,
  });
  const proposals = [without(urn, "versionProperties")];
  const stored = properties && JSON.parse(properties.value);
  const headers = { "If-Version-Match": String(properties?.version ?? -1) };
  if (stored?.latest === urn && next !== undefined) {
    const value = { ...stored, latest: next.urn };
    const operation = { op: "add", path: ["isLatest"], value: true } as const;
    proposals.push({ ...proposalOf(set, "versionSetProperties", value), headers });
    proposals.push(patchOf(next.urn, "versionProperties", [operation]));
  } else if (stored?.latest === urn) {
    proposals.push({ ...without(set, "versionSetProperties"), headers });
  }
  await write(proposals, viewer);
  return entityOf(set);
}

export const versionMutations = { linkAssetVersion, unlinkAssetVersion };
