/** The header of an entity: name, path, labels, links and state. */
import { type Entity, useNamed, useSummary } from "../../api/entities.ts";
import { textAt } from "../../api/json.ts";
import type { Summary } from "../../api/summary.ts";
import { typeLabel } from "../../api/type-names.ts";
import { isUrn } from "../../api/urn.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { EntityLink } from "../../components/entity-link.tsx";
import { TypeGlyph } from "../../components/icon.tsx";
import { type Naming, wordsOfChange } from "../../words/change-words.ts";
import { AsOfControl } from "./as-of-control.tsx";
import { EntityActions } from "./entity-actions.tsx";
import { EntityLinks } from "./entity-links.tsx";
import { Labels } from "./labels.tsx";
import { differs, useNow } from "./now.tsx";
import { assignmentsOf } from "./properties/definition.ts";

interface HeaderProps {
  readonly entity: Entity;
  readonly summary: Summary;
  readonly asOf: string | undefined;
  readonly onAsOf: (asOf: string | undefined) => void;
}

export function EntityHeader({ entity, summary, asOf, onAsOf }: HeaderProps) {
  const { urn, type, name, subType, platform } = summary;
  const deprecation = entity.aspects.get("deprecation")?.value;
  return (
    <header className="entity-header">
      <div className="entity-title">
        <TypeGlyph type={type} large />
        <div className="entity-names">
          <p className="crumbs muted small">
            <span>{subType ?? typeLabel(type)}</span>
            {platform !== undefined && platform !== urn && <EntityLink urn={platform} />}
            {summary.environment !== undefined && <span>{summary.environment}</span>}
            {summary.path.map((id, n) =>
              isUrn(id) ? (
                <EntityLink key={id} urn={id} />
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: folders of a path may be equal.
                <span key={`${n}${id}`}>{id}</span>
              ),
            )}
          </p>
          <h1 title={name}>{name}</h1>
        </div>
        <div className="entity-tools">
          <CopyButton text={urn} label="Copy urn" />
          <AsOfControl asOf={asOf} onChange={onAsOf} />
          {asOf === undefined && summary.exists && <EntityActions summary={summary} />}
        </div>
      </div>
      {!summary.exists && (
        <p className="notice">
          {asOf === undefined
            ? "This entity does not exist. If it was deleted, the history shows its versions."
            : "This entity did not exist at this point."}
        </p>
      )}
      {summary.removed && (
        <p className="notice">This entity is soft-deleted: searches do not show it.</p>
      )}
      {summary.deprecated && (
        <p className="notice">
          Deprecated{textAt(deprecation, "note") && `: ${textAt(deprecation, "note")}`}
          {textAt(deprecation, "actor") !== undefined && (
            <span className="muted">
              by <NameOf urn={textAt(deprecation, "actor") ?? ""} />
            </span>
          )}
        </p>
      )}
      {asOf !== undefined && <DifferenceToNow entity={entity} asOf={asOf} />}
      <Labels
        summary={summary}
        readOnly={asOf !== undefined || !summary.exists}
        properties={assignmentsOf(entity.aspects)}
      />
      <EntityLinks entity={entity} readOnly={asOf !== undefined || !summary.exists} />
    </header>
  );
}

const NameOf = ({ urn }: { readonly urn: string }) => useSummary(urn).name;

/** In words: how the entity at the shown moment differs from now. */
function DifferenceToNow({ entity, asOf }: { readonly entity: Entity; readonly asOf: string }) {
  const data = useNow(entity.urn, asOf);
  const sentences = useNamed((nameOf) => (data ? changesSince(entity, data, nameOf) : []));
  if (data === undefined) return null;
  return (
    <div className="notice">
      <strong>Shown as of the log position {entity.position}.</strong>
      {sentences.length === 0
        ? "Nothing has changed since."
        : `Changed since: ${sentences.slice(0, 12).join("; ")}${sentences.length > 12 ? " …" : ""}`}
    </div>
  );
}

function changesSince(past: Entity, present: Entity, nameOf: Naming): readonly string[] {
  const names = new Set([...past.aspects.keys(), ...present.aspects.keys()]);
  return [...names].flatMap((aspectName) => {
    const then = past.aspects.get(aspectName);
    const now = present.aspects.get(aspectName);
    if (!differs(then?.value, now?.value)) return [];
    const change = {
      changeType: now === undefined ? "DELETE" : "UPSERT",
      aspectName,
      ...(now && { aspect: now }),
      ...(then && { previousAspectValue: then }),
    };
    return wordsOfChange(change, nameOf);
  });
}
