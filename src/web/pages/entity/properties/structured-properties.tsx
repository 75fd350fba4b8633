/** The structured properties of an entity, with editing. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Entity } from "../../../api/entities.ts";
import { listAt, textAt } from "../../../api/json.ts";
import { useMayWrite } from "../../../api/privileges.ts";
import { summaryOf } from "../../../api/summary.ts";
import { isUrn, typeOf } from "../../../api/urn.ts";
import { type PropertyValue, setStructuredProperty } from "../../../api/writes.ts";
import { EntityLink } from "../../../components/entity-link.tsx";
import { Icon } from "../../../components/icon.tsx";
import Markdown from "../../../components/markdown.tsx";
import { withMembers } from "../editing/guesses.ts";
import { useEdit } from "../editing/use-edit.ts";
import { type Assignment, assignmentsOf, type Definition, textOf } from "./definition.ts";
import { definitionsQuery } from "./definitions.ts";
import "./properties.css";
import { PropertyDialog } from "./property-dialog.tsx";

interface PanelProps {
  readonly entity: Entity;
  readonly readOnly: boolean;
}

export function StructuredProperties({ entity, readOnly: past }: PanelProps) {
  const { urn, aspects } = entity;
  const readOnly = !useMayWrite(urn)("structuredProperties") || past;
  const edit = useEdit(urn);
  const [editing, setEditing] = useState<Definition>();
  const { data: definitions = [] } = useQuery(definitionsQuery(typeOf(urn)));
  const assignments = assignmentsOf(aspects);
  const assigned = new Map(assignments.map((one) => [one.propertyUrn, one]));
  const { platform } = summaryOf(urn, aspects);
  const offered = definitions.filter(
    ({ urn: property, hidden, platforms }) =>
      !hidden &&
      !assigned.has(property) &&
      (platforms.length === 0 || platforms.includes(platform ?? "")),
  );
  if (assignments.length === 0 && (readOnly || offered.length === 0)) return null;
  const save = (property: Definition, values: readonly PropertyValue[]) => {
    setEditing(undefined);
    const done = values.length === 0 ? `${property.name} removed` : `${property.name} saved`;
    const others = listAt(aspects.get("structuredProperties")?.value, "properties").filter(
      (one) => textAt(one, "propertyUrn") !== property.urn,
    );
    const own = values.length === 0 ? [] : [{ propertyUrn: property.urn, values }];
    void edit(
      () => setStructuredProperty(urn, property.urn, values),
      done,
      withMembers("structuredProperties", { properties: [...others, ...own] }),
    );
  };
  return (
    <section className="panel">
      <header>
        <h2>Structured properties</h2>
        {!readOnly && offered.length > 0 && (
          <select
            className="field add-property"
            aria-label="Add a structured property"
            value=""
            onChange={({ target }) => setEditing(offered.find((one) => one.urn === target.value))}
          >
            <option value="">Add</option>
            {offered.map((one) => (
              <option key={one.urn} value={one.urn}>
                {one.name}
              </option>
            ))}
          </select>
        )}
      </header>
      {assignments.length === 0 ? (
        <p className="muted panel-body">No values yet</p>
      ) : (
        <dl className="facts">
          {assignments.map((one) => (
            <PropertyRow
              key={one.propertyUrn}
              assignment={one}
              definition={definitions.find((other) => other.urn === one.propertyUrn)}
              onEdit={readOnly ? undefined : setEditing}
            />
          ))}
        </dl>
      )}
      {editing !== undefined && (
        <PropertyDialog
          definition={editing}
          values={assigned.get(editing.urn)?.values ?? []}
          onClose={() => setEditing(undefined)}
          onSave={(values) => save(editing, values)}
        />
      )}
    </section>
  );
}

interface RowProps {
  readonly assignment: Assignment;
  readonly definition: Definition | undefined;
  readonly onEdit: ((definition: Definition) => void) | undefined;
}

function PropertyRow({ assignment, definition, onEdit }: RowProps) {
  const { propertyUrn, values } = assignment;
  return (
    <div className="property">
      <dt>
        <EntityLink urn={propertyUrn} />
      </dt>
      <dd>
        <ul>
          {values.map((value) => (
            <li key={textOf(value)}>
              <Value value={value} definition={definition} />
            </li>
          ))}
        </ul>
        {definition?.immutable === true && <span className="badge">Immutable</span>}
        {onEdit !== undefined && definition !== undefined && !definition.immutable && (
          <button
            type="button"
            className="button quiet icon"
            aria-label={`Edit ${definition.name}`}
            title="Edit"
            onClick={() => onEdit(definition)}
          >
            <Icon name="edit" />
          </button>
        )}
      </dd>
    </div>
  );
}

interface ValueProps {
  readonly value: PropertyValue;
  readonly definition: Definition | undefined;
}

function Value({ value, definition }: ValueProps) {
  const text = textOf(value);
  if (isUrn(text)) return <EntityLink urn={text} />;
  if (definition?.type === "rich_text") return <Markdown text={text} />;
  const description = definition?.allowed?.find((one) => textOf(one.value) === text)?.description;
  return (
    <>
      {text}
      {description !== undefined && <span className="muted"> {description}</span>}
    </>
  );
}
