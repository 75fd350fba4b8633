/** Marks what differs between the shown moment and now. */
import { useQuery } from "@tanstack/react-query";
import { type Entity, entityQuery } from "../../api/entities.ts";

/** The entity as it is now, while the page shows the past; undefined otherwise. */
export function useNow(urn: string, asOf: string | undefined): Entity | undefined {
  const { data } = useQuery({ ...entityQuery(urn), enabled: asOf !== undefined });
  return asOf === undefined ? undefined : data;
}

/** True if a value of the past differs from that of now. */
export const differs = (then: unknown, now: unknown): boolean =>
  JSON.stringify(then) !== JSON.stringify(now);

export const DiffersBadge = () => <span className="badge warn-badge">differs from now</span>;
