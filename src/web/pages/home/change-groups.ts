/** Joins neighbouring changes of one entity by one user. */
import type { Change } from "../../api/changes.ts";

interface ChangeGroup {
  /** Of the latest change. */
  readonly position: number;
  readonly changes: readonly Change[];
}

export function groupsOf(changes: readonly Change[]): readonly ChangeGroup[] {
  const groups: { position: number; changes: Change[] }[] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    const [first] = last?.changes ?? [];
    const same =
      first?.entityUrn === change.entityUrn && first.created?.actor === change.created?.actor;
    if (last !== undefined && same) last.changes.push(change);
    else groups.push({ position: change.position, changes: [change] });
  }
  return groups;
}
