/**
 * Legacy snapshots as proposals: {<snapshot record>: {urn, aspects: [{<aspect record>: {…}}]}}
 * becomes one UPSERT per aspect of one entity, and so one append. Without aspects it becomes an
 * UPSERT of the key. Record names are accepted with any prefix.
 */
import { CatalogError } from "../../../core/errors.ts";
import { type JsonObject, jsonObject } from "../../../lib/json.ts";
import type { Model, Snapshot } from "../../../model/model.ts";
import { type Proposal, REQUEST_PATH, type SnapshotProposal } from "../../catalog.ts";

/** Maximum number of names that an error lists before "and n more". */
const listedMax = 12;

/** Throws `malformed` for an invalid snapshot, naming the member and the allowed values. */
export function proposalsOf(
  model: Model,
  snapshots: readonly SnapshotProposal[],
): readonly Proposal[] {
  return snapshots.flatMap((snapshot, index) => {
    return snapshots.length > 1
      ? expand(model, snapshot, `/entities/${index}/value`, `entities[${index}].`)
      : expand(model, snapshot, "/entity/value", "");
  });
}

function expand(
  model: Model,
  { value, systemMetadata }: SnapshotProposal,
  at: string,
  within: string,
): Proposal[] {
  const [name, body] = onlyMember(value, at);
  const snapshot = model.findSnapshotByRecord(name);
  if (snapshot === undefined) {
    throw malformed(at, `"${name}" is not a member type of union`, [...model.snapshots.keys()]);
  }
  if (!jsonObject(body))
    throw malformed(`${at}/${name}`, "a snapshot is an object: {urn, aspects}");
  const { urn, aspects } = body;
  if (typeof urn !== "string") throw malformed(`${at}/${name}/urn`, "field is required");
  if (!Array.isArray(aspects)) throw malformed(`${at}/${name}/aspects`, "field is required");
  const common = { entityType: snapshot.entity, entityUrn: urn, changeType: "UPSERT" } as const;
  if (aspects.length === 0) {
    // It declares that the entity exists; the key is derived from the urn.
    const aspectName = model.findEntity(snapshot.entity)?.keyAspect ?? "";
    const place = `${within}aspects`;
    return [
      { ...common, aspectName, aspect: { value: {} }, systemMetadata, [REQUEST_PATH]: place },
    ];
  }
  return aspects.map((aspect, i) => {
    const path = `${at}/${name}/aspects/${i}`;
    const [record, fields] = onlyMember(aspect, path);
    return {
      ...common,
      aspectName: aspectName(model, snapshot, record, path),
      aspect: { value: fields },
      systemMetadata,
      [REQUEST_PATH]: `${within}aspects[${i}]`,
    };
  });
}

function aspectName(model: Model, snapshot: Snapshot, record: string, at: string): string {
  const aspect = model.findAspectByRecord(record);
  if (aspect === undefined || !snapshot.aspects.includes(aspect.record)) {
    throw malformed(at, `"${record}" is not a member type of union`, snapshot.aspects);
  }
  return aspect.name;
}

function onlyMember(value: unknown, at: string): readonly [string, unknown] {
  const members = jsonObject(value) ? Object.entries(value as JsonObject) : [];
  const [member] = members;
  if (member === undefined || members.length > 1) {
    throw malformed(at, "a union needs exactly one member, named by its record");
  }
  return member;
}

function malformed(at: string, finding: string, allowed: readonly string[] = []): CatalogError {
  const more = allowed.length > listedMax ? `, and ${allowed.length - listedMax} more` : "";
  return new CatalogError("malformed", `ERROR :: ${at} :: ${finding}`, {
    hint:
      allowed.length === 0
        ? undefined
        : `Allowed: ${allowed.slice(0, listedMax).join(", ")}${more}`,
  });
}
