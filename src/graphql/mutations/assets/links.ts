/** Links of assets. A link is the pair of its URL and its label. */
import { CatalogError } from "../../../core/errors.ts";
import { type JsonObject, objectsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { given, stampOf } from "../changes.ts";
import { rejectMissing, rewrite } from "../writing.ts";

interface LinkInput {
  readonly linkUrl: string;
  readonly label: string;
  readonly resourceUrn: string;
  readonly settings?: Maybe<{ readonly showInAssetPreview?: Maybe<boolean> }>;
}

interface LinkUpdate extends LinkInput {
  readonly currentUrl: string;
  readonly currentLabel: string;
}

type LinkRemoval = Omit<LinkInput, "label"> & { readonly label?: Maybe<string> };

const isLink = (url: string, label: string) => (one: JsonObject) =>
  one.url === url && one.description === label;

const linkOf = ({ linkUrl: url, label: description, settings }: LinkInput) => ({
  ...{ url, description },
  ...(settings && { settings: given({ ...settings }) }),
});

/** Changes a link that exists; `before` finds it. */
function changed(
  elements: readonly JsonObject[],
  before: (one: JsonObject) => boolean,
  input: LinkInput,
  viewer: Viewer,
): object {
  const change = (one: JsonObject) => ({ ...one, ...linkOf(input), updateStamp: stampOf(viewer) });
  return { elements: elements.map((one) => (before(one) ? change(one) : one)) };
}

/** Adds a link. One with the same URL and label is changed on an upsert, and else an error. */
const adding =
  (upsert: boolean) =>
  async ({ input }: InputArgs<LinkInput>, viewer: Viewer) => {
    const { resourceUrn, linkUrl, label } = input;
    await rejectMissing([resourceUrn], viewer);
    const same = isLink(linkUrl, label);
    const compute = async (stored: JsonObject | undefined) => {
      const elements = objectsIn(stored?.elements);
      if (elements.some(same)) {
        if (!upsert) throw taken(input);
        return { changed: changed(elements, same, input, viewer) };
      }
      const added = { ...linkOf(input), createStamp: stampOf(viewer) };
      return { changed: { elements: [...elements, added] } };
    };
    return rewrite(resourceUrn, "institutionalMemory", compute, viewer);
  };

const taken = ({ linkUrl, label }: LinkInput) =>
  new CatalogError("invalid", `link "${linkUrl}" with label "${label}" already exists`, {
    hint: "Remove one of them",
  });

/** Removes the links with the URL, or only the one with the label. */
async function removeLink({ input }: InputArgs<LinkRemoval>, viewer: Viewer) {
  const { resourceUrn, linkUrl, label } = input;
  await rejectMissing([resourceUrn], viewer);
  const removed = label ? isLink(linkUrl, label) : ({ url }: JsonObject) => url === linkUrl;
  const compute = async (stored: JsonObject | undefined) => {
    const elements = objectsIn(stored?.elements);
    return { changed: { elements: elements.filter((one) => !removed(one)) } };
  };
  return rewrite(resourceUrn, "institutionalMemory", compute, viewer);
}

async function updateLink({ input }: InputArgs<LinkUpdate>, viewer: Viewer) {
  const { resourceUrn, linkUrl, label, currentUrl, currentLabel } = input;
  await rejectMissing([resourceUrn], viewer);
  const before = isLink(currentUrl, currentLabel);
  const after = isLink(linkUrl, label);
  const compute = async (stored: JsonObject | undefined) => {
    const elements = objectsIn(stored?.elements);
    if (!elements.some(before)) {
      throw new CatalogError(
        "invalid",
        `link "${currentUrl}" with label "${currentLabel}" does not exist`,
        { hint: "Send the URL and the label of a link of the entity" },
      );
    }
    if (elements.some((one) => after(one) && !before(one))) {
      throw taken(input);
    }
    return { changed: changed(elements, before, input, viewer) };
  };
  return rewrite(resourceUrn, "institutionalMemory", compute, viewer);
}

export const linkMutations = {
  addLink: adding(false),
  upsertLink: adding(true),
  updateLink,
  removeLink,
};
