/** A table with a head. It scrolls sideways where it is wider than its place. */
import type { ReactNode } from "react";
import { ScrollRegion } from "./scroll-region.tsx";

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
    <table>
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

function HeadCell({ head }: { readonly head: Head | string }) {
  const {
    label,
    right = false,
    hidden = false,
  } = typeof head === "string" ? { label: head } : head;
  return (
    <th scope="col" className={right ? "right" : undefined}>
      {hidden ? <span className="hidden-text">{label}</span> : label}
    </th>
  );
}
