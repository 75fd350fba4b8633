/** Two values of an aspect: in words, and side by side as JSON. */
import { useMemo } from "react";
import { useNamed } from "../../../api/entities.ts";
import { isObject } from "../../../api/json.ts";
import { ScrollRegion } from "../../../components/scroll-region.tsx";
import { differences } from "../../../words/change-words.ts";
import { alignLines, type DifferenceRow, linesOf } from "./line-difference.ts";

interface ViewProps {
  readonly before: unknown;
  readonly after: unknown;
}

export function DifferenceView({ before, after }: ViewProps) {
  const rows = useMemo(() => alignLines(linesOf(before), linesOf(after)), [before, after]);
  const words = useNamed((nameOf) =>
    isObject(before) && isObject(after) ? differences(before, after, nameOf) : [],
  );
  return (
    <div className="difference">
      {words.length > 0 && (
        <ul className="difference-words">
          {[...new Set(words)].slice(0, 40).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <ScrollRegion label="Difference" className="difference-scroll">
        <table className="difference-table">
          <thead>
            <tr>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity.
              <tr key={n}>
                {row.kind === "gap" ? (
                  <td colSpan={2} className="difference-gap">
                    {row.count} equal {row.count === 1 ? "line" : "lines"}
                  </td>
                ) : (
                  <>
                    <td className={classOf(row, row.before, "removed")}>{row.before ?? ""}</td>
                    <td className={classOf(row, row.after, "added")}>{row.after ?? ""}</td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </div>
  );
}

/** The side of an equal line, of a changed one, or the empty side of a line that has no counterpart. */
const classOf = (row: DifferenceRow, side: string | undefined, changed: string): string =>
  row.kind === "equal" ? "equal" : side === undefined ? "" : changed;
