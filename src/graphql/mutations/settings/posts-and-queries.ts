/** Mutations of posts (announcements and notes) and of saved queries. */
import type { JsonObject } from "../../../lib/json.ts";
import type { Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { changeOf, createEntity, given, stampOf, storedAspect, withoutNulls } from "../changes.ts";
import { proposalOf, refuseMissing, remove, urnOf, write } from "../writing.ts";

interface PostInput {
  readonly postType: string;
  readonly content: { readonly contentType: string } & JsonObject;
  readonly resourceUrn?: Maybe<string>;
}

const contentOf = ({ content }: PostInput) => {
  const { contentType, ...rest } = content;
  return { ...(withoutNulls(rest) as JsonObject), type: contentType };
};

interface QueryInput {
  readonly properties?: Maybe<{
    readonly name?: Maybe<string>;
    readonly description?: Maybe<string>;
    readonly statement?: Maybe<{ readonly value: string; readonly language: string }>;
  }>;
  readonly subjects?: Maybe<readonly { readonly datasetUrn: string }[]>;
}

async function subjectsOf({ subjects }: QueryInput, viewer: Viewer) {
  const urns = (subjects ?? []).map(({ datasetUrn }) => urnOf(datasetUrn, ["dataset"], viewer));
  await refuseMissing(urns, viewer);
  return { subjects: urns.map((entity) => ({ entity })) };
}

export const postMutations = {
  async createPost(_: never, { input }: { input: PostInput }, viewer: Viewer) {
    const { time } = stampOf(viewer);
    if (input.resourceUrn) await refuseMissing([input.resourceUrn], viewer);
    const value = {
      type: input.postType,
      content: contentOf(input),
      created: time,
      lastModified: time,
      auditStamp: stampOf(viewer),
      ...given({ target: input.resourceUrn }),
    };
    await createEntity("post", { aspects: { postInfo: value } }, viewer);
    return true;
  },

  async updatePost(_: never, { input }: { input: PostInput & { urn: string } }, viewer: Viewer) {
    const urn = urnOf(input.urn, ["post"], viewer);
    await storedAspect(urn, "postInfo", viewer);
    const changed = {
      type: input.postType,
      content: contentOf(input),
      lastModified: stampOf(viewer).time,
    };
    return write(
      [await changeOf(urn, "postInfo", (stored) => ({ ...stored, ...changed }), viewer)],
      viewer,
    );
  },

  deletePost: (_: never, { urn }: { urn: string }, viewer: Viewer) =>
    remove(urnOf(urn, ["post"], viewer), viewer),
};

export const queryMutations = {
  async createQuery(_: never, { input }: { input: QueryInput }, viewer: Viewer) {
    const stamp = stampOf(viewer);
    const queryProperties = {
      ...given(input.properties ?? {}),
      source: "MANUAL",
      created: stamp,
      lastModified: stamp,
    };
    const querySubjects = await subjectsOf(input, viewer);
    return entityOf(
      await createEntity("query", { aspects: { queryProperties, querySubjects } }, viewer),
    );
  },

  async updateQuery(
    _: never,
    { urn: text, input }: { urn: string; input: QueryInput },
    viewer: Viewer,
  ) {
    const urn = urnOf(text, ["query"], viewer);
    await storedAspect(urn, "queryProperties", viewer);
    const members = given(input.properties ?? {});
    const change = (stored: JsonObject) => ({
      ...stored,
      ...members,
      lastModified: stampOf(viewer),
    });
    const proposals = [await changeOf(urn, "queryProperties", change, viewer)];
    if (input.subjects) {
      proposals.push(proposalOf(urn, "querySubjects", await subjectsOf(input, viewer)));
    }
    await write(proposals, viewer);
    return entityOf(urn);
  },

  deleteQuery: (_: never, { urn }: { urn: string }, viewer: Viewer) =>
    remove(urnOf(urn, ["query"], viewer), viewer),
};
