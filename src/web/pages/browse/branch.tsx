/** A row of a tree that loads its children when it is opened. */
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Icon } from "../../components/icon.tsx";

interface BranchProps {
  readonly label: ReactNode;
  /** Of entities below; without one, no count is shown. */
  readonly count?: number | undefined;
  /** Of the search that shows all entities of the branch. */
  readonly filters: readonly string[];
  /** The branch is an entity with a page. */
  readonly urn?: string | undefined;
  readonly startOpen?: boolean;
  readonly children: () => ReactNode;
}

export function Branch({ label, count, filters, urn, startOpen = false, children }: BranchProps) {
  const [open, setOpen] = useState(startOpen);
  return (
    <li>
      <div className="tree-row">
        <button
          type="button"
          className="tree-toggle"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Icon name="chevron" />
          {label}
        </button>
        {urn !== undefined && (
          <Link to="/ui/entity/$urn" params={{ urn }} className="small">
            Open
          </Link>
        )}
        {count !== undefined && (
          <Link
            to="/ui/search"
            search={{ f: [...filters] }}
            className="muted num tree-count"
            title="Search all of them"
          >
            {count.toLocaleString("en")}
          </Link>
        )}
      </div>
      {open && <ul className="tree-children">{children()}</ul>}
    </li>
  );
}
