/** Mutations of settings: the caller's own, those of the whole catalog, and the steps of tours. */
import type { Privilege } from "../../../auth/policies/privileges.ts";
import { CatalogError } from "../../../core/errors.ts";
import { type JsonObject, jsonObject, stringsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { changeAspect, given, stampOf, storedAspect } from "../changes.ts";
import { anyOf, patchOf, proposalOf, urnOf, write } from "../writing.ts";

const memberOf = (value: JsonObject, name: string): JsonObject => {
  const member = memberAt(value, [name]);
  return jsonObject(member) ? member : {};
};

async function changeOwn(change: (stored: JsonObject) => object, viewer: Viewer): Promise<true> {
  const { actor } = viewer;
  if (actor === undefined) {
    throw new CatalogError("forbidden", "Unauthorized to perform this action", {
      hint: "Settings belong to a user: sign in, or name one with an actor header",
    });
  }
  const withAppearance = (stored: JsonObject) => change({ appearance: {}, ...stored });
  // Own settings need no privilege.
  return changeAspect(actor, "corpUserSettings", withAppearance, viewer, "none");
}

/**
 * Changes one member of the global settings. Needs the privilege of the setting, or the one for all of them.
 * The caller need not be allowed to read the other settings.
 */
async function changeGlobal(
  member: string,
  change: (stored: JsonObject) => object,
  privilege: Privilege,
  viewer: Viewer,
): Promise<true> {
  const urn = `urn:${viewer.namespace}:globalSettings:0`;
  const settings = (await viewer.entities.find(urn))?.[INFO];
  const value = change(jsonObject(settings) ? memberOf(settings, member) : {});
  const patch = patchOf(urn, INFO, [{ op: "add", path: [member], value }]);
  return write([patch], viewer, [anyOf([privilege, "MANAGE_GLOBAL_SETTINGS"])]);
}

const INFO = "globalSettingsInfo";

/** A global view, or undefined for none. Throws `malformed` for a personal one. */
export async function globalView(text: Maybe<string>, viewer: Viewer): Promise<string | undefined> {
  if (!text) return undefined;
  const urn = urnOf(text, ["dataHubView"], viewer);
  const { type } = await storedAspect(urn, "dataHubViewInfo", viewer);
  if (type === "GLOBAL") return urn;
  throw new CatalogError("malformed", `the view "${urn}" is personal`, {
    hint: "Choose a global view",
  });
}

interface HomePageInput {
  readonly pageTemplate?: Maybe<string>;
  readonly newDismissedAnnouncements?: Maybe<readonly Maybe<string>[]>;
  readonly removePageTemplate?: Maybe<boolean>;
}

/** Members of `appearance` by the values of the enum UserSetting. */
const appearance = {
  SHOW_SIMPLIFIED_HOMEPAGE: "showSimplifiedHomepage",
  SHOW_THEME_V2: "showThemeV2",
} as const;

export const ownSettingsMutations = {
  updateCorpUserViewsSettings(
    { input }: InputArgs<{ defaultView?: Maybe<string> }>,
    viewer: Viewer,
  ) {
    const views = given({
      defaultView: input.defaultView && urnOf(input.defaultView, ["dataHubView"], viewer),
    });
    return changeOwn((stored) => ({ ...stored, views }), viewer);
  },

  updateCorpUserLocaleSettings: (
    { input }: InputArgs<{ language?: Maybe<string> }>,
    viewer: Viewer,
  ) => changeOwn((stored) => ({ ...stored, locale: given({ language: input.language }) }), viewer),

  updateUserHomePageSettings({ input }: InputArgs<HomePageInput>, viewer: Viewer) {
    const { pageTemplate, newDismissedAnnouncements, removePageTemplate } = input;
    if (pageTemplate && removePageTemplate) {
      throw new CatalogError("malformed", "pageTemplate and removePageTemplate are both given", {
        hint: "Send one of them",
      });
    }
    return changeOwn((stored) => {
      const { pageTemplate: before, ...rest } = memberOf(stored, "homePage");
      const dismissed = [
        ...stringsIn(rest.dismissedAnnouncements),
        ...stringsIn(newDismissedAnnouncements),
      ];
      const homePage = {
        ...rest,
        dismissedAnnouncements: [...new Set(dismissed)],
        ...given({ pageTemplate: pageTemplate ?? (removePageTemplate ? undefined : before) }),
      };
      return { ...stored, homePage };
    }, viewer);
  },

  updateUserSetting(
    { input }: InputArgs<{ name: keyof typeof appearance; value: boolean }>,
    viewer: Viewer,
  ) {
    // Safe lookup: the schema checks the member of the enum.
    const member = appearance[input.name];
    return changeOwn(
      (stored) => ({
        ...stored,
        appearance: { ...memberOf(stored, "appearance"), [member]: input.value },
      }),
      viewer,
    );
  },
};

export const globalSettingsMutations = {
  async updateGlobalViewsSettings(
    { input }: InputArgs<{ defaultView?: Maybe<string> }>,
    viewer: Viewer,
  ) {
    const views = given({ defaultView: await globalView(input.defaultView, viewer) });
    return changeGlobal("views", () => views, "MANAGE_GLOBAL_VIEWS", viewer);
  },

  updateDocPropagationSettings(
    { input }: InputArgs<{ docColumnPropagation?: Maybe<boolean> }>,
    viewer: Viewer,
  ) {
    const changed = given({ columnPropagationEnabled: input.docColumnPropagation });
    const change = (stored: JsonObject) => ({ enabled: true, ...stored, ...changed });
    return changeGlobal("docPropagation", change, "MANAGE_FEATURES", viewer);
  },

  updateApplicationsSettings({ input }: InputArgs<{ enabled?: Maybe<boolean> }>, viewer: Viewer) {
    const changed = given({ enabled: input.enabled });
    const change = (stored: JsonObject) => ({ enabled: false, ...stored, ...changed });
    return changeGlobal("applications", change, "MANAGE_FEATURES", viewer);
  },
};

interface StepState {
  readonly id: string;
  readonly properties: readonly Maybe<{ readonly key: string; readonly value?: Maybe<string> }>[];
}

export const stepMutations = {
  async batchUpdateStepStates(
    { input }: InputArgs<{ states: readonly StepState[] }>,
    viewer: Viewer,
  ) {
    const proposals = input.states.map(({ id, properties }) => {
      const entries = properties.flatMap((one) => (one ? [[one.key, one.value ?? ""]] : []));
      const value = { properties: Object.fromEntries(entries), lastModified: stampOf(viewer) };
      const urn = `urn:${viewer.namespace}:dataHubStepState:${id}`;
      return proposalOf(urn, "dataHubStepStateProperties", value);
    });
    await write(proposals, viewer, "none");
    return { results: input.states.map(({ id }) => ({ id, succeeded: true })) };
  },
};
