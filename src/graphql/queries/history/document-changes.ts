/** Changes of a document: the members of its info that each write changed. */
import { toRead } from "../../../auth/policies/privileges.ts";
import type { ChangeEntry } from "../../../catalog/catalog.ts";
import type { Position } from "../../../core/position.ts";
import { dayMs } from "../../../lib/calendar.ts";
import { type JsonObject, jsonObject } from "../../../lib/json.ts";
import { appendAll } from "../../../lib/lists.ts";
import { sameJson } from "../../../lib/same-json.ts";
import type { Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { mayRead } from "../access/privilege-checks.ts";
import type { EntitySource } from "../entity-source.ts";

interface Member {
  readonly changeType: string;
  readonly path: readonly string[];
  readonly description: string;
  /** The details name both values with it, such as `oldTitle` and `newTitle`. */
  readonly detail?: string;
}

const members: readonly Member[] = [
  {
    ...{ changeType: "TITLE_CHANGED", path: ["title"], description: "The title changed" },
    detail: "Title",
  },
  {
    ...{ changeType: "TEXT_CHANGED", path: ["contents", "text"], description: "The text changed" },
    detail: "Content",
  },
  {
    ...{ changeType: "STATE_CHANGED", path: ["status", "state"], description: "The state changed" },
    detail: "State",
  },
  {
    ...{ changeType: "PARENT_CHANGED", path: ["parentDocument", "document"], detail: "Parent" },
    description: "The parent document changed",
  },
  {
    ...{ changeType: "RELATED_ASSETS_CHANGED", path: ["relatedAssets"] },
    description: "The related assets changed",
  },
  {
    ...{ changeType: "RELATED_DOCUMENTS_CHANGED", path: ["relatedDocuments"] },
    description: "The related documents changed",
  },
];

interface HistoryInput {
  readonly startTimeMillis?: Maybe<number>;
  readonly endTimeMillis?: Maybe<number>;
  readonly limit?: Maybe<number>;
}

const DAYS_30 = 30 * dayMs;
/** Changes of a page that is read. */
const PAGE_MAX = 1_000;

/** Newest first; empty for callers who may not view the document. */
async function changeHistory({ urn }: EntitySource, asked: HistoryInput, viewer: Viewer) {
  const alternatives = [...toRead, ["MANAGE_DOCUMENTS"] as const];
  if (!(await mayRead(viewer, alternatives, urn))) return [];
  const from = asked.startTimeMillis ?? viewer.now() - DAYS_30;
  const to = asked.endTimeMillis ?? Number.POSITIVE_INFINITY;
  const limit = Math.max(0, asked.limit ?? 50);
  const filter = { urns: [urn], aspects: ["documentInfo"], previous: true, limit: PAGE_MAX };
  const shown: object[] = [];
  for (let after: Position | undefined; ; ) {
    const page = await viewer.catalog.readChanges({ ...filter, after });
    const within = page.changes.filter(
      ({ change }) => change.created.time >= from && change.created.time <= to,
    );
    appendAll(shown, within.flatMap(changesIn));
    // Details have whole texts: only the newest changes are kept.
    if (shown.length > limit) shown.splice(0, shown.length - limit);
    if (page.end) break;
    after = page.position;
  }
  return shown.reverse();
}

const infoOf = (text: string | undefined): JsonObject | undefined => {
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return jsonObject(value) ? value : undefined;
};

function changesIn({ change, previous }: ChangeEntry): readonly object[] {
  const { time: timestamp, actor } = change.created;
  const after = infoOf(change.value);
  const before = infoOf(previous?.value);
  const changed = (changeType: string, description: string, details: readonly object[] = []) => ({
    ...{ changeType, description, actor, timestamp, details },
  });
  if (after === undefined) return [changed("DELETED", "The document was deleted")];
  if (before === undefined) return [changed("CREATED", "The document was created")];
  return members
    .filter(({ path }) => !sameJson(memberAt(before, path) ?? null, memberAt(after, path) ?? null))
    .map(({ changeType, description, path, detail }) =>
      changed(changeType, description, [
        ...detailOf("old", detail, memberAt(before, path)),
        ...detailOf("new", detail, memberAt(after, path)),
      ]),
    );
}

/** An entry such as `{key: "oldTitle", value}`; none for a missing value, and for lists. */
const detailOf = (prefix: string, detail: string | undefined, value: unknown) =>
  detail === undefined || typeof value !== "string" ? [] : [{ key: `${prefix}${detail}`, value }];

export const documentFields = {
  Document: { changeHistory },
};
