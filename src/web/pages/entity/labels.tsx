/** Owners, tags, terms and domain of an entity, with editing, and its structured properties. */
import { useState } from "react";
import { useSummary } from "../../api/entities.ts";
import { useMay } from "../../api/privileges.ts";
import type { Summary } from "../../api/summary.ts";
import {
  addOwner,
  addTag,
  addTerm,
  createDomain,
  createTag,
  createTerm,
  removeOwner,
  removeTag,
  removeTerm,
  setDomain,
  unsetDomain,
} from "../../api/writes.ts";
import { Dialog } from "../../components/dialog.tsx";
import { EntityChip, EntityLink, OwnerChip } from "../../components/entity-link.tsx";
import { EntityPicker } from "../../components/entity-picker.tsx";
import { withItem, withOnly, withoutItem } from "./guesses.ts";
import { type Assignment, textOf } from "./properties/definition.ts";
import { useEdit } from "./use-edit.ts";

interface LabelsProps {
  readonly summary: Summary;
  readonly readOnly: boolean;
  readonly properties: readonly Assignment[];
}

export function Labels({ summary, readOnly, properties }: LabelsProps) {
  const { urn, owners, tags, terms, domain } = summary;
  const edit = useEdit(urn);
  const may = useMay(urn);
  const mayEdit = (privilege: string): boolean => !readOnly && may("EDIT_ENTITY", privilege);
  const owning = mayEdit("EDIT_ENTITY_OWNERS");
  const tagging = mayEdit("EDIT_ENTITY_TAGS");
  const defining = mayEdit("EDIT_ENTITY_GLOSSARY_TERMS");
  const placing = mayEdit("EDIT_DOMAINS_PRIVILEGE");
  return (
    <dl className="labels">
      <Row label="Owners">
        {owners.map(({ urn: owner, type }) => (
          <OwnerChip
            key={`${owner}${type}`}
            urn={owner}
            kind={type}
            onRemove={
              owning
                ? () =>
                    edit(
                      () => removeOwner(urn, owner),
                      "Owner removed",
                      withoutItem("ownership", "owners", "owner", owner),
                    )
                : undefined
            }
          />
        ))}
        {owning && (
          <AddOwner
            onAdd={(owner, type) =>
              edit(
                () => addOwner(urn, owner, type),
                "Owner added",
                withItem("ownership", "owners", { owner, type }),
              )
            }
          />
        )}
      </Row>
      <Row label="Tags">
        {tags.map((tag) => (
          <EntityChip
            key={tag}
            urn={tag}
            onRemove={
              tagging
                ? () =>
                    edit(
                      () => removeTag({ urn }, tag),
                      "Tag removed",
                      withoutItem("globalTags", "tags", "tag", tag),
                    )
                : undefined
            }
          />
        ))}
        {tagging && (
          <AddLabel
            noun="tag"
            types={["tag"]}
            onAdd={(tag) =>
              edit(() => addTag({ urn }, tag), "Tag added", withItem("globalTags", "tags", { tag }))
            }
            onCreate={(name) =>
              edit(async () => addTag({ urn }, await createTag(name)), "Tag created and added")
            }
          />
        )}
      </Row>
      <Row label="Terms">
        {terms.map((term) => (
          <EntityChip
            key={term}
            urn={term}
            onRemove={
              defining
                ? () =>
                    edit(
                      () => removeTerm({ urn }, term),
                      "Term removed",
                      withoutItem("glossaryTerms", "terms", "urn", term),
                    )
                : undefined
            }
          />
        ))}
        {defining && (
          <AddLabel
            noun="term"
            types={["glossaryTerm"]}
            onAdd={(term) =>
              edit(
                () => addTerm({ urn }, term),
                "Term added",
                withItem("glossaryTerms", "terms", { urn: term }),
              )
            }
            onCreate={(name) =>
              edit(async () => addTerm({ urn }, await createTerm(name)), "Term created and added")
            }
          />
        )}
      </Row>
      <Row label="Domain">
        {domain !== undefined && (
          <EntityChip
            urn={domain}
            onRemove={
              placing
                ? () =>
                    edit(
                      () => unsetDomain(urn),
                      "Domain removed",
                      withOnly("domains", "domains", []),
                    )
                : undefined
            }
          />
        )}
        {placing && (
          <AddLabel
            noun="domain"
            types={["domain"]}
            onAdd={(one) =>
              edit(() => setDomain(urn, one), "Domain set", withOnly("domains", "domains", [one]))
            }
            onCreate={(name) =>
              edit(async () => setDomain(urn, await createDomain(name)), "Domain created and set")
            }
          />
        )}
      </Row>
      {properties.length > 0 && (
        <Row label="Properties">
          {properties.map(({ propertyUrn, values }) => (
            <PropertyChip
              key={propertyUrn}
              urn={propertyUrn}
              text={values.map(textOf).join(", ")}
            />
          ))}
        </Row>
      )}
    </dl>
  );
}

/** A structured property with its values, which the documentation edits. */
const PropertyChip = ({ urn, text }: { readonly urn: string; readonly text: string }) => (
  <span className="chip" title={`${useSummary(urn).name}: ${text}`}>
    <EntityLink urn={urn} />
    <span className="muted clip">{text}</span>
  </span>
);

const Row = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: React.ReactNode;
}) => (
  <div className="labels-row">
    <dt>{label}</dt>
    <dd className="row tight">{children}</dd>
  </div>
);

interface AddProps {
  readonly noun: string;
  readonly types: readonly string[];
  readonly onAdd: (urn: string) => void;
  readonly onCreate?: (name: string) => void;
}

/** A small button that opens a picker. */
export function AddLabel({ noun, types, onAdd, onCreate }: AddProps) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <button
        type="button"
        className="button quiet add"
        aria-label={`Add a ${noun}`}
        title={`Add a ${noun}`}
        onClick={() => setOpen(true)}
      />
      {open && (
        <Dialog title={`Add a ${noun}`} onClose={close}>
          <EntityPicker
            types={types}
            label={`Find a ${noun}`}
            onPick={(urn) => {
              close();
              onAdd(urn);
            }}
            onCreate={
              onCreate &&
              ((name) => {
                close();
                onCreate(name);
              })
            }
          />
        </Dialog>
      )}
    </>
  );
}

const ownerTypes = ["TECHNICAL_OWNER", "BUSINESS_OWNER", "DATA_STEWARD", "NONE"] as const;

const ownerTypeLabels = new Map<string, string>([
  ["TECHNICAL_OWNER", "Technical owner"],
  ["BUSINESS_OWNER", "Business owner"],
  ["DATA_STEWARD", "Data steward"],
  ["NONE", "Without a type"],
]);

function AddOwner({ onAdd }: { readonly onAdd: (urn: string, type: string) => void }) {
  const [open, setOpen] = useState(false);
  const [type, setType] = useState<string>("TECHNICAL_OWNER");
  const close = () => setOpen(false);
  return (
    <>
      <button
        type="button"
        className="button quiet add"
        aria-label="Add an owner"
        title="Add an owner"
        onClick={() => setOpen(true)}
      />
      {open && (
        <Dialog title="Add an owner" onClose={close}>
          <label className="field-label">
            Type of ownership
            <select
              className="field"
              value={type}
              onChange={(event) => setType(event.target.value)}
            >
              {ownerTypes.map((one) => (
                <option key={one} value={one}>
                  {ownerTypeLabels.get(one)}
                </option>
              ))}
            </select>
          </label>
          <EntityPicker
            types={["corpuser", "corpGroup"]}
            label="Find a user or group"
            onPick={(urn) => {
              close();
              onAdd(urn, type);
            }}
          />
        </Dialog>
      )}
    </>
  );
}
