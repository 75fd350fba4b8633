/** A part of the page that scrolls by itself, also with the keyboard. */
import type { ReactNode } from "react";

interface RegionProps {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export const ScrollRegion = ({ label, className = "table-scroll", children }: RegionProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus.
  <section className={className} aria-label={label} tabIndex={0}>
    {children}
  </section>
);
