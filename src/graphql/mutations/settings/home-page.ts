/** Mutations of the templates and modules of home pages and summaries. */

import type { PrivilegeAlternatives } from "../../../auth/policies/privileges.ts";
import { CatalogError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import {
  createEntity,
  given,
  requirePrivilege,
  setMembers,
  stampOf,
  storedAspect,
  withoutNulls,
} from "../changes.ts";
import { rejectMissing, remove, urnOf } from "../writing.ts";

const toManagePages: PrivilegeAlternatives = [["MANAGE_HOME_PAGE_TEMPLATES"]];

const template = { entityType: "dataHubPageTemplate", aspect: "dataHubPageTemplateProperties" };
const module = { entityType: "dataHubPageModule", aspect: "dataHubPageModuleProperties" };
type Kind = typeof template;

/** Throws `forbidden` unless the caller manages global pages, or created the personal page. */
async function requireOwn(page: JsonObject, viewer: Viewer): Promise<void> {
  if (memberAt(page, ["visibility", "scope"]) === "GLOBAL") {
    await requirePrivilege(toManagePages, viewer);
    return;
  }
  if (viewer.actor !== undefined && memberAt(page, ["created", "actor"]) === viewer.actor) return;
  throw new CatalogError("forbidden", "Unauthorized to perform this action", {
    hint: "Only the creator of a personal page may change it",
  });
}

async function put(
  kind: Kind,
  { urn: text, scope, members }: { urn: Maybe<string>; scope: string; members: object },
  viewer: Viewer,
) {
  if (scope === "GLOBAL") await requirePrivilege(toManagePages, viewer);
  const lastModified = stampOf(viewer);
  const changed = { ...members, visibility: { scope }, lastModified };
  if (!text) {
    const aspects = { [kind.aspect]: { ...changed, created: lastModified } };
    return entityOf(await createEntity(kind.entityType, { aspects, required: "none" }, viewer));
  }
  const urn = urnOf(text, [kind.entityType], viewer);
  await requireOwn(await storedAspect(urn, kind.aspect, viewer), viewer);
  await setMembers(urn, kind.aspect, changed, viewer, "none");
  return entityOf(urn);
}

const deleting =
  (kind: Kind) =>
  async ({ input }: InputArgs<{ urn: string }>, viewer: Viewer) => {
    const urn = urnOf(input.urn, [kind.entityType], viewer);
    await requireOwn(await storedAspect(urn, kind.aspect, viewer), viewer);
    return remove(urn, viewer, "none");
  };

interface TemplateInput {
  readonly urn?: Maybe<string>;
  readonly rows: readonly { readonly modules: readonly string[] }[];
  readonly assetSummary?: Maybe<object>;
  readonly scope: string;
  readonly surfaceType: string;
}

interface ModuleInput {
  readonly urn?: Maybe<string>;
  readonly name: string;
  readonly type: string;
  readonly scope: string;
  readonly params: JsonObject;
}

/** The parameters that a type of module needs. */
const moduleParams: ReadonlyMap<string, string> = new Map([
  ["RICH_TEXT", "richTextParams"],
  ["LINK", "linkParams"],
  ["ASSET_COLLECTION", "assetCollectionParams"],
  ["HIERARCHY", "hierarchyViewParams"],
]);

export const pageMutations = {
  async upsertPageTemplate({ input }: InputArgs<TemplateInput>, viewer: Viewer) {
    const { urn, rows, assetSummary, scope, surfaceType } = input;
    const modules = rows.flatMap((row) => row.modules);
    await rejectMissing(
      modules.map((one) => urnOf(one, [module.entityType], viewer)),
      viewer,
    );
    const members = {
      rows,
      surface: { surfaceType },
      ...given({ assetSummary: assetSummary && withoutNulls(assetSummary) }),
    };
    return put(template, { urn, scope, members }, viewer);
  },

  async upsertPageModule({ input }: InputArgs<ModuleInput>, viewer: Viewer) {
    const { urn, name, type, scope, params } = input;
    const needed = moduleParams.get(type);
    if (needed === undefined || !memberAt(params, [needed])) {
      throw new CatalogError(
        "malformed",
        `the module of type ${type} has no parameters of this type`,
        {
          hint: `Send params with ${[...moduleParams].map(([of, name]) => `${name} for ${of}`).join(", ")}`,
        },
      );
    }
    const members = { name, type, params: withoutNulls(params) };
    return put(module, { urn, scope, members }, viewer);
  },

  deletePageTemplate: deleting(template),
  deletePageModule: deleting(module),
};
