/** Facets with counts. A value is a filter; values of one facet are alternatives. */
import { memo, useState } from "react";
import { useSummary } from "../../api/entities.ts";
import { typeLabels } from "../../api/type-names.ts";
import { isUrn } from "../../api/urn.ts";
import { Icon } from "../../components/icon.tsx";
import { propertyOfFacet, type ShownFacet } from "./counted-facets.ts";
import { type Filters, toggleFilter } from "./filters.ts";

interface PanelProps {
  readonly facets: readonly ShownFacet[];
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}

/** Facets that repeat others, or that say nothing to people. */
const hidden: ReadonlySet<string> = new Set([
  "_entityType␞typeNames",
  "entity",
  "inputs",
  "outputs",
]);

/** The order and names of the facets; other facets follow. */
const labels = new Map<string, string>([
  ["_entityType", "Type"],
  ["typeNames", "Subtype"],
  ["platform", "Platform"],
  ["owners", "Owner"],
  ["tags", "Tag"],
  ["glossaryTerms", "Term"],
  ["domains", "Domain"],
  ["container", "Container"],
  ["origin", "Environment"],
  ["deprecated", "Deprecated"],
]);

const order = [...labels.keys()];
const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);

export const FacetPanel = memo(function FacetPanel({ facets, filters, onChange }: PanelProps) {
  const [open, setOpen] = useState(false);
  const shown = facets
    .map((facet) => ({
      ...facet,
      // Types of the request that have no hit are of no use.
      values: facet.values.filter(
        ({ value, count }) => count > 0 || filters.get(facet.name)?.includes(value),
      ),
    }))
    .filter(({ name, values }) => !hidden.has(name) && (values.length > 0 || filters.has(name)))
    .toSorted((a, b) => rank(a.name) - rank(b.name));
  const selected = [...filters.values()].flat().length;
  return (
    <aside className={open ? "facets open" : "facets"} aria-label="Filters">
      <div className="facets-head">
        <button
          type="button"
          className="button facets-button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          Filters{selected > 0 && ` (${selected})`}
        </button>
        {selected > 0 && (
          <button type="button" className="button quiet" onClick={() => onChange(new Map())}>
            Remove all filters
          </button>
        )}
      </div>
      <div className="facets-body">
        {shown.map((facet) => (
          <FacetGroup
            key={facet.name}
            facet={facet}
            selected={filters.get(facet.name) ?? []}
            onToggle={(value) => onChange(toggleFilter(filters, facet.name, value))}
          />
        ))}
      </div>
    </aside>
  );
});

interface GroupProps {
  readonly facet: ShownFacet;
  readonly selected: readonly string[];
  readonly onToggle: (value: string) => void;
}

const shortLength = 6;

function FacetGroup({ facet, selected, onToggle }: GroupProps) {
  const [all, setAll] = useState(false);
  const property = propertyOfFacet(facet.name);
  const values = facet.values.toSorted((a, b) => b.count - a.count);
  const shown = all
    ? values
    : values.filter(({ value }, n) => n < shortLength || selected.includes(value));
  return (
    <fieldset className="facet">
      <legend>
        {property === undefined ? (
          (labels.get(facet.name) ?? facet.label)
        ) : (
          <NameOf urn={property} />
        )}
      </legend>
      {shown.map(({ value, count }) => (
        <label key={value} className="facet-value">
          <input
            type="checkbox"
            checked={selected.includes(value)}
            onChange={() => onToggle(value)}
          />
          <span className="clip">
            <FacetLabel facet={facet.name} value={value} />
          </span>
          {!facet.uncounted && <span className="muted num">{count.toLocaleString("en")}</span>}
        </label>
      ))}
      {values.length > shown.length && (
        <button type="button" className="button quiet more" onClick={() => setAll(true)}>
          <Icon name="plus" /> {values.length - shown.length} more
        </button>
      )}
    </fieldset>
  );
}

function FacetLabel({ facet, value }: { readonly facet: string; readonly value: string }) {
  if (isUrn(value)) return <NameOf urn={value} />;
  if (facet === "_entityType") return typeLabels(value);
  if (facet === "deprecated") return value === "true" ? "Yes" : "No";
  return value;
}

const NameOf = ({ urn }: { readonly urn: string }) => useSummary(urn).name;
