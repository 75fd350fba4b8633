/** The results of a search, with highlighted matches and movement by arrow keys. */
import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, memo, useMemo } from "react";
import { useSummary } from "../../api/entities.ts";
import type { Hit } from "../../api/search.ts";
import { sentenceCase, typeLabel } from "../../api/type-names.ts";
import { isUrn } from "../../api/urn.ts";
import { EntityChip, EntityLink, OwnerChip } from "../../components/entity-link.tsx";
import { TypeGlyph } from "../../components/icon.tsx";
import { excerptOf, splitAtMatches, withoutMarks, wordsOfQuery } from "./highlight.ts";

interface ListProps {
  readonly hits: readonly Hit[];
  readonly query: string;
}

/** Rendered when results arrive, not at each keystroke. */
export const HitList = memo(function HitList({ hits, query }: ListProps) {
  const words = useMemo(() => wordsOfQuery(query), [query]);
  return (
    <ol className="hits" onKeyDown={moveFocus}>
      {hits.map((hit) => (
        <HitRow key={hit.urn} hit={hit} words={words} />
      ))}
    </ol>
  );
});

/** Arrow keys move between results; up from the first one leads back to the field. */
function moveFocus(event: KeyboardEvent<HTMLOListElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a.hit-name")];
  const current = links.findIndex((link) => link.closest("li")?.contains(document.activeElement));
  const next = links[current + (event.key === "ArrowDown" ? 1 : -1)];
  event.preventDefault();
  if (next !== undefined) next.focus();
  else if (event.key === "ArrowUp") document.getElementById("search-field")?.focus();
}

/** Fields that the row shows anyway. */
const shownFields: ReadonlySet<string> = new Set([
  ..."urn name displayName fullName title id description definition editedDescription".split(" "),
]);

const HitRow = memo(function HitRow({
  hit,
  words,
}: {
  readonly hit: Hit;
  readonly words: readonly string[];
}) {
  const summary = useSummary(hit.urn);
  const more = hit.matches.filter(({ name, value }) => !shownFields.has(name) && !isUrn(value));
  const labels = [...summary.tags, ...summary.terms];
  // An owner may have several ownership types.
  const owners = [...new Set(summary.owners.map((owner) => owner.urn))];
  return (
    <li className="hit">
      <TypeGlyph type={summary.type} />
      <div className="hit-body">
        <div className="row tight">
          <Link
            to="/ui/entity/$urn"
            params={{ urn: hit.urn }}
            className="hit-name clip"
            title={hit.urn}
          >
            <Marked text={summary.name} words={words} />
          </Link>
          {summary.deprecated && <span className="badge warn-badge">Deprecated</span>}
          {summary.removed && <span className="badge bad-badge">Deleted</span>}
        </div>
        <p className="hit-path muted small clip">
          {summary.subType ?? typeLabel(summary.type)}
          {summary.platform !== undefined && (
            <>
              {" · "}
              <EntityLink urn={summary.platform} />
            </>
          )}
          {summary.path.map((folder, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: folders of a path may share a name.
            <span key={n}>
              {n === 0 ? " · " : " / "}
              <FolderName id={folder} />
            </span>
          ))}
        </p>
        {summary.description !== "" && (
          <p className="hit-text">
            <Marked text={excerptOf(withoutMarks(summary.description), words, 220)} words={words} />
          </p>
        )}
        {more.length > 0 && (
          <ul className="hit-matches small">
            {more.slice(0, 3).map(({ name, value }) => (
              <li key={`${name}:${value}`} className="clip">
                <span className="muted">{fieldLabel(name)}</span>{" "}
                <Marked text={excerptOf(value, words, 100)} words={words} />
              </li>
            ))}
          </ul>
        )}
        <div className="row tight">
          {owners.length > 0 && <span className="muted small">Owned by</span>}
          {owners.slice(0, 3).map((urn) => (
            <OwnerChip key={urn} urn={urn} />
          ))}
          {summary.domain !== undefined && (
            <>
              <span className="muted small">in</span>
              <EntityChip urn={summary.domain} />
            </>
          )}
          {labels.length > 0 && <span className="muted small">labelled</span>}
          {labels.slice(0, 4).map((urn) => (
            <EntityChip key={urn} urn={urn} />
          ))}
        </div>
      </div>
    </li>
  );
});

const fieldLabel = (name: string): string =>
  name === "fieldPaths" ? "Column" : sentenceCase(name.replace(/\.keyword$/, ""));

/** A folder that is an entity has its urn as id. */
const FolderName = ({ id }: { readonly id: string }) => (isUrn(id) ? <NameOf urn={id} /> : id);

const NameOf = ({ urn }: { readonly urn: string }) => useSummary(urn).name;

const Marked = ({ text, words }: { readonly text: string; readonly words: readonly string[] }) =>
  splitAtMatches(text, words).map(({ part, start, matches }) =>
    matches ? <mark key={start}>{part}</mark> : <span key={start}>{part}</span>,
  );
