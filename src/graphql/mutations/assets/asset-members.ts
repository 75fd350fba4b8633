/** Mutations that change a few members of one aspect of an asset. */

import { invalid } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { stringsIn } from "../../../lib/json.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import { MappedAspect } from "../../mapping/aspect-value.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { shownType } from "../../schema/entity-types.ts";
import { given, stampOf } from "../changes.ts";
import { operationsOf, updating } from "../declared.ts";
import { patchOf, rejectMissing, urnOf, write } from "../writing.ts";

interface EmbedInput {
  readonly urn: string;
  readonly renderUrl?: Maybe<string>;
}

interface DisplayInput {
  readonly colorHex?: Maybe<string>;
  readonly icon?: Maybe<{
    readonly iconLibrary?: Maybe<string>;
    readonly name?: Maybe<string>;
    readonly style?: Maybe<string>;
  }>;
}

interface SettingsInput {
  readonly urn: string;
  readonly summary?: Maybe<{ readonly template: string }>;
}

interface StageArgs {
  readonly urn: string;
  readonly lifecycleStageUrn?: Maybe<string>;
}

/** Throws `invalid` unless the stage applies to the entity's type and may follow its current stage. */
async function rejectStage(urn: string, stage: string, { loader }: Viewer): Promise<void> {
  const info = (await loader.load(stage)).aspect("lifecycleStageTypeInfo") ?? {};
  const entityType = entityTypeOf(urn);
  const types = stringsIn(info.entityTypes);
  if (types.length > 0 && !types.includes(entityType) && !types.includes(shownType(entityType))) {
    const why = `stage "${stage}" does not apply to entities of type ${entityType}`;
    throw invalid(why, `It applies to ${types.join(", ")}`);
  }
  const previous = stringsIn(memberAt(info, ["transitionPolicy", "allowedPreviousStages"]));
  const current = (await loader.load(urn)).aspect("status")?.lifecycleStage;
  if (previous.length === 0 || current === stage || previous.includes(String(current))) return;
  throw invalid(
    `"${urn}" cannot change from ${current ? `stage "${String(current)}"` : "no stage"} to "${stage}"`,
    `The current stage must be ${previous.join(" or ")}`,
  );
}

async function setLifecycleStage(args: StageArgs, viewer: Viewer): Promise<true> {
  const { urn, lifecycleStageUrn } = args;
  const stage = lifecycleStageUrn?.trim()
    ? urnOf(lifecycleStageUrn, ["lifecycleStageType"], viewer)
    : undefined;
  await rejectMissing(stage === undefined ? [urn] : [urn, stage], viewer);
  if (stage !== undefined) await rejectStage(urn, stage, viewer);
  const operations = operationsOf({
    lifecycleStage: stage ?? null,
    lifecycleLastUpdated: stampOf(viewer),
  });
  return write([patchOf(urn, "status", operations)], viewer);
}

const updateSettings = updating<InputArgs<SettingsInput>>({
  urn: ({ input }) => input.urn,
  aspect: "assetSettings",
  dependencies: ({ input }) => [input.summary?.template],
  members: ({ input: { summary } }) => ({
    "assetSummary/templates": summary ? [{ template: summary.template }] : undefined,
  }),
  answer: true,
});

export const memberMutations = {
  updateEmbed: updating<InputArgs<EmbedInput>>({
    urn: ({ input }) => input.urn,
    aspect: "embed",
    members: ({ input: { renderUrl } }) => ({ renderUrl: renderUrl ?? undefined }),
    answer: true,
  }),
  updateDisplayProperties: updating<UpdateArgs<DisplayInput>>({
    urn: ({ urn }) => urn,
    aspect: "displayProperties",
    members: ({ input: { colorHex, icon } }) =>
      given({
        colorHex,
        "icon/iconLibrary": icon?.iconLibrary,
        "icon/name": icon?.name,
        "icon/style": icon?.style,
      }),
    answer: true,
  }),
  setLifecycleStage,
  async updateAssetSettings(args: InputArgs<SettingsInput>, viewer: Viewer) {
    await updateSettings(args, viewer);
    const { urn } = args.input;
    return new MappedAspect((await viewer.loader.load(urn)).aspect("assetSettings") ?? {}, urn);
  },
};
