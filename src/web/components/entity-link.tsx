/** Links to entities: names, chips of tags, terms and owners. */
import { Link } from "@tanstack/react-router";
import { useSummary } from "../api/entities.ts";
import { ownerTypeLabel } from "../api/type-names.ts";
import { typeOf } from "../api/urn.ts";
import { hueOf, TypeGlyph } from "./icon.tsx";

interface EntityProps {
  readonly urn: string;
}

/** The name of an entity as a link to its page. */
export const EntityLink = ({ urn }: EntityProps) => (
  <NamedLink urn={urn} name={useSummary(urn).name} />
);

const NamedLink = ({ urn, name }: EntityProps & { readonly name: string }) => (
  <Link to="/ui/entity/$urn" params={{ urn }} title={urn} className="clip">
    {name}
  </Link>
);

/** Icon and name of an entity. */
export const EntityLabel = ({ urn }: EntityProps) => (
  <span className="entity-label">
    <TypeGlyph type={typeOf(urn)} />
    <EntityLink urn={urn} />
  </span>
);

interface ChipProps extends EntityProps {
  readonly onRemove?: (() => void) | undefined;
}

/** A tag, term, domain or other entity as a chip. */
export function EntityChip({ urn, onRemove }: ChipProps) {
  const { name, color } = useSummary(urn);
  const dot = /^#[0-9a-f]{3,8}$/i.test(color ?? "") ? color : `hsl(${hueOf(urn)} 45% 50%)`;
  return (
    <span className="chip" title={urn}>
      <span className="dot" style={{ background: dot }} />
      <NamedLink urn={urn} name={name} />
      <RemoveButton name={name} onRemove={onRemove} />
    </span>
  );
}

interface OwnerProps extends ChipProps {
  readonly kind?: string | undefined;
  /** The type of ownership; its name is shown for a kind of `CUSTOM`. */
  readonly typeUrn?: string | undefined;
}

/** A user or group with initials. */
export function OwnerChip({ urn, kind, typeUrn, onRemove }: OwnerProps) {
  const { name } = useSummary(urn);
  return (
    <span className="chip" title={urn}>
      <Avatar urn={urn} name={name} />
      <NamedLink urn={urn} name={name} />
      {kind !== undefined && kind !== "NONE" && (
        <span className="muted">
          {kind === "CUSTOM" && typeUrn !== undefined ? (
            <EntityLink urn={typeUrn} />
          ) : (
            ownerTypeLabel(kind)
          )}
        </span>
      )}
      <RemoveButton name={name} onRemove={onRemove} />
    </span>
  );
}

function RemoveButton({ name, onRemove }: { name: string; onRemove: (() => void) | undefined }) {
  if (onRemove === undefined) return null;
  return (
    <button type="button" onClick={onRemove} aria-label={`Remove ${name}`} title="Remove">
      ×
    </button>
  );
}

export function Avatar({ urn, name }: { readonly urn: string; readonly name: string }) {
  const initials = name
    .split(/[\s._-]+/)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? "")
    .join("");
  return (
    <span
      className="avatar"
      aria-hidden="true"
      style={{ "--hue": hueOf(urn) } as React.CSSProperties}
    >
      {initials}
    </span>
  );
}
