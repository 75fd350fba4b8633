/**
 * The parts of the global settings that every caller may read. The secrets of the settings are not
 * among them.
 */
import { CatalogError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";

/** The stored settings; empty when there are none. */
export async function globalSettings({ entities, namespace }: Viewer): Promise<JsonObject> {
  const stored = await entities.find(`urn:${namespace}:globalSettings:0`);
  return (stored?.globalSettingsInfo ?? {}) as JsonObject;
}

const setting = async (viewer: Viewer, ...path: readonly string[]): Promise<unknown> =>
  memberAt(await globalSettings(viewer), path) ?? null;

export const settingsQueries = {
  globalViewsSettings: async (_: never, viewer: Viewer) => ({
    defaultView: await setting(viewer, "views", "defaultView"),
  }),
  docPropagationSettings: async (_: never, viewer: Viewer) => ({
    docColumnPropagation:
      (await setting(viewer, "docPropagation", "columnPropagationEnabled")) === true,
  }),
  globalHomePageSettings: async (_: never, viewer: Viewer) => ({
    defaultTemplate: await setting(viewer, "homePage", "defaultTemplate"),
  }),
  isAnalyticsEnabled: () => true,
  // The news of DataHub's releases do not concern this service.
  latestProductUpdate: () => null,
  getPresignedUploadUrl: () => {
    throw new CatalogError(
      "invalid",
      "files cannot be uploaded: the service has no bucket for them",
      {
        hint: "Link to a file in place of uploading it",
      },
    );
  },
};
