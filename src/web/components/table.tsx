/** A table with a head. Narrow pages show each row as a block. */
import type { CSSProperties, ReactNode } from "react";
import { ScrollRegion } from "./scroll-region.tsx";
import "./table.css";

interface Head {
  readonly label: string;
  /** The column has numbers. */
  readonly right?: boolean;
  /** The label is for screen readers only. */
  readonly hidden?: boolean;
}

interface TableProps {
  readonly label: string;
  readonly heads: readonly (Head | string)[];
  /** The table is a panel of its own. */
  readonly panel?: boolean;
  /** The rows. */
  readonly children: ReactNode;
}

/** The head of a column of buttons. */
export const actionsHead: Head = { label: "Actions", hidden: true };

export const Table = ({ label, heads, panel = false, children }: TableProps) => (
  <ScrollRegion label={label} {...(panel ? { className: "panel table-scroll" } : {})}>
    <table className="stacking" style={labelsOf(heads)}>
      <thead>
        <tr>
          {heads.map((head) => (
            <HeadCell key={typeof head === "string" ? head : head.label} head={head} />
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </ScrollRegion>
);

const headOf = (head: Head | string): Head => (typeof head === "string" ? { label: head } : head);

/** The labels of the cells of a block, as strings of CSS. */
const labelsOf = (heads: TableProps["heads"]): CSSProperties =>
  Object.fromEntries(
    heads
      .map(headOf)
      .map(({ label, hidden }, n) => [`--head-${n + 1}`, hidden ? "none" : JSON.stringify(label)]),
  );

function HeadCell({ head }: { readonly head: Head | string }) {
  const { label, right = false, hidden = false } = headOf(head);
  return (
    <th scope="col" className={right ? "right" : undefined}>
      {hidden ? <span className="hidden-text">{label}</span> : label}
    </th>
  );
}
