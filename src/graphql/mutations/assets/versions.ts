/** Version sets: links an asset to the set as its latest version, and unlinks it. */
import type { Proposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { jsonObject } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { incomingUrns } from "../../queries/related.ts";
import { stampOf } from "../changes.ts";
import { anyOf, proposalOf, type Required, rejectMissing, urnOf, write } from "../writing.ts";

interface LinkInput {
  readonly versionSet: string;
  readonly linkedEntity: string;
  readonly version: string;
  readonly comment?: Maybe<string>;
  readonly sourceTimestamp?: Maybe<number>;
  readonly sourceCreator?: Maybe<string>;
}

const VERSION = "versionProperties";
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

const versionsMax = 10_000;
/** Of several versions that are linked concurrently, each attempt lets one win. */
const attemptsMax = 50;

/** The id after the greatest one of the set; soft-deleted versions keep theirs. */
async function sortIdFor(set: string, viewer: Viewer): Promise<string> {
  const { entities, loader } = viewer;
  const listed = await incomingUrns(
    { urn: set, relationship: "VersionOf", count: versionsMax },
    viewer,
  );
  const versions = await Promise.all(
    listed.map(async (urn) => (await loader.load(urn)).aspect(VERSION)),
  );
  // The caller may not see the latest version.
  const properties = (await entities.find(set))?.versionSetProperties;
  const latest = jsonObject(properties) ? String(properties.latest) : set;
  const ids = [...versions, (await entities.find(latest))?.versionProperties].flatMap((one) =>
    jsonObject(one) && one.versionSet === set ? [String(one.sortId)] : [],
  );
  const [greatest] = ids.sort().reverse();
  return greatest === undefined ? FIRST_SORT_ID : nextSortId(greatest);
}

/** When another version was linked meanwhile, it has the same sort id: the next one is tried. */
async function linkAssetVersion({ input }: InputArgs<LinkInput>, viewer: Viewer) {
  const set = urnOf(input.versionSet, ["versionSet"], viewer);
  const urn = input.linkedEntity;
  await rejectMissing([urn], viewer);
  const linked = (await viewer.loader.load(urn)).aspect(VERSION);
  if (linked !== undefined) {
    throw new CatalogError("invalid", `"${urn}" is in the version set "${linked.versionSet}"`, {
      hint: "Unlink it first",
    });
  }
  for (let attempt = 1; ; attempt++) {
    const sortId = await sortIdFor(set, viewer);
    const version = proposalOf(urn, VERSION, {
      versionSet: set,
      version: { versionTag: input.version },
      ...(input.comment && { comment: input.comment }),
      sortId,
      versioningScheme: SCHEME,
      metadataCreatedTimestamp: stampOf(viewer),
      ...sourceStampOf(input, viewer),
    });
    const headers = { "If-Version-Match": "-1" };
    try {
      await write([{ ...version, headers }], viewer, requiredFor(set, urn));
      return entityOf(set);
    } catch (error) {
      if (!(error instanceof CatalogError) || attempt === attemptsMax) throw error;
      viewer.loader.clear();
      if ((await sortIdFor(set, viewer)) === sortId) throw error;
    }
  }
}

interface UnlinkInput {
  readonly versionSet?: Maybe<string>;
  readonly unlinkedEntity?: Maybe<string>;
}

async function unlinkAssetVersion({ input }: InputArgs<UnlinkInput>, viewer: Viewer) {
  const set = urnOf(input.versionSet ?? "", ["versionSet"], viewer);
  const urn = input.unlinkedEntity ?? "";
  await rejectMissing([set, urn], viewer);
  if ((await viewer.loader.load(urn)).aspect(VERSION)?.versionSet !== set) {
    throw new CatalogError("invalid", `"${urn}" is not in the version set "${set}"`, {
      hint: "Read its version set in the aspect versionProperties",
    });
  }
  const unlinked: Proposal = {
    entityType: entityTypeOf(urn),
    entityUrn: urn,
    changeType: "DELETE",
    aspectName: VERSION,
  };
  await write([unlinked], viewer, requiredFor(set, urn));
  return entityOf(set);
}

/** The catalog then also writes the set (catalog/references/version-sets.ts). */
const requiredFor = (...urns: readonly string[]): Required => [anyOf(["EDIT_ENTITY"], urns)];

export const versionMutations = { linkAssetVersion, unlinkAssetVersion };
