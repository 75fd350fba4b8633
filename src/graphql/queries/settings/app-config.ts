/** The features and the appearance that clients read at their start; the same for every caller. */
import type { Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import featureFlags from "../../schema/feature-flags.json" with { type: "json" };
import { globalSettings } from "./global-settings.ts";
import { policiesConfig } from "./policy-privileges.ts";

const enabled = { enabled: true };
const disabled = { enabled: false };

export async function appConfig(_: never, viewer: Viewer) {
  const applications = memberAt(await globalSettings(viewer), ["applications", "enabled"]);
  return {
    appVersion: `v${viewer.version}`,
    authConfig: { tokenAuthEnabled: true },
    analyticsConfig: enabled,
    policiesConfig,
    identityManagementConfig: enabled,
    // Ingestion sources are stored, but nothing runs them here.
    managedIngestionConfig: disabled,
    lineageConfig: { supportsImpactAnalysis: true },
    visualConfig: {
      logoUrl: "/assets/logos/datahublogo.svg",
      faviconUrl: "/assets/icons/favicon.ico",
      appTitle: "",
      hideGlossary: false,
      showFullTitleInLineage: false,
      queriesTab: { queriesTabResultSize: 5 },
      entityProfiles: { domain: { defaultTab: "" } },
      searchResult: { enableNameHighlight: true },
      theme: { themeId: "" },
      application: {
        showApplicationInNavigation: applications === true,
        showSidebarSectionWhenEmpty: applications === true,
      },
    },
    telemetryConfig: { enableThirdPartyLogging: false },
    testsConfig: disabled,
    viewsConfig: enabled,
    searchBarConfig: { apiVariant: "SEARCH_ACROSS_ENTITIES" },
    searchCardConfig: { showDescription: false },
    searchFlagsConfig: { defaultSkipHighlighting: false },
    homePageConfig: { firstInPersonalSidebar: "YOUR_ASSETS" },
    chromeExtensionConfig: { enabled: true, lineageEnabled: true },
    semanticSearchConfig: { enabled: false, enabledEntities: [] },
    // Of DataHub's web application: true for the features that this service has.
    featureFlags,
  };
}
