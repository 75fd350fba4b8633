/** Mutations of posts (announcements and notes) and of saved queries. */
import { type JsonObject, objectsIn, stringsIn } from "../../../lib/json.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import {
  createEntity,
  given,
  setMembers,
  stampOf,
  storedAspect,
  withoutNulls,
} from "../changes.ts";
import { deleting } from "../declared.ts";
import { anyOf, proposalOf, rejectMissing, rewrite, urnOf } from "../writing.ts";

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
  await rejectMissing(urns, viewer);
  return { subjects: urns.map((entity) => ({ entity })) };
}

export const postMutations = {
  async createPost({ input }: InputArgs<PostInput>, viewer: Viewer) {
    const { time } = stampOf(viewer);
    if (input.resourceUrn) await rejectMissing([input.resourceUrn], viewer);
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

  async updatePost({ input }: InputArgs<PostInput & { urn: string }>, viewer: Viewer) {
    const urn = urnOf(input.urn, ["post"], viewer);
    await storedAspect(urn, "postInfo", viewer);
    const changed = {
      type: input.postType,
      content: contentOf(input),
      lastModified: stampOf(viewer).time,
    };
    return setMembers(urn, "postInfo", changed, viewer);
  },

  deletePost: deleting(["post"]),
};

/** The datasets of the query. A caller who may edit the queries of all of them may write it. */
async function storedSubjects(urn: string, { loader }: Viewer): Promise<readonly string[]> {
  const { subjects } = (await loader.load(urn)).aspect("querySubjects") ?? {};
  return stringsIn(objectsIn(subjects).map(({ entity }) => entity));
}

const toEdit = (subjects: readonly string[]) => [
  anyOf(["EDIT_ENTITY", "EDIT_ENTITY_QUERIES"], subjects),
];

export const queryMutations = {
  async createQuery({ input }: InputArgs<QueryInput>, viewer: Viewer) {
    const stamp = stampOf(viewer);
    const queryProperties = {
      ...given(input.properties ?? {}),
      source: "MANUAL",
      created: stamp,
      lastModified: stamp,
    };
    const querySubjects = await subjectsOf(input, viewer);
    const aspects = { queryProperties, querySubjects };
    const required = toEdit(querySubjects.subjects.map(({ entity }) => entity));
    return entityOf(await createEntity("query", { aspects, required }, viewer));
  },

  async updateQuery({ urn: text, input }: UpdateArgs<QueryInput>, viewer: Viewer) {
    const urn = urnOf(text, ["query"], viewer);
    await storedAspect(urn, "queryProperties", viewer);
    const members = given(input.properties ?? {});
    const querySubjects = input.subjects ? await subjectsOf(input, viewer) : undefined;
    const others = querySubjects ? [proposalOf(urn, "querySubjects", querySubjects)] : [];
    const edited = (querySubjects?.subjects ?? []).map(({ entity }) => entity);
    await rewrite(
      urn,
      "queryProperties",
      async (stored) => ({
        changed: { ...stored, ...members, lastModified: stampOf(viewer) },
        others,
      }),
      viewer,
      toEdit([...(await storedSubjects(urn, viewer)), ...edited]),
    );
    return entityOf(urn);
  },

  deleteQuery: deleting(["query"], {
    required: async (urn, viewer) => toEdit(await storedSubjects(urn, viewer)),
  }),
};
