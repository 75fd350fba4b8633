/** Owners, tags, terms and domain of an entity, with editing, and its structured properties. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSummary } from "../../api/entities.ts";
import { ownershipTypesQuery, ownerTypeOf } from "../../api/ownership-types.ts";
import { useMayCreate, useMayWrite } from "../../api/privileges.ts";
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
import { withItem, withOnly, withoutItem } from "./editing/guesses.ts";
import { type Edit, useEdit } from "./editing/use-edit.ts";
import { type Assignment, textOf } from "./properties/definition.ts";

interface LabelsProps {
  readonly summary: Summary;
  readonly readOnly: boolean;
  readonly properties: readonly Assignment[];
}

export function Labels({ summary, readOnly, properties }: LabelsProps) {
  const { urn, owners, tags, terms, domain } = summary;
  const edit = useEdit(urn);
  const mayWrite = useMayWrite(urn);
  const mayEdit = (aspect: string): boolean => !readOnly && mayWrite(aspect);
  const owning = mayEdit("ownership");
  const placing = mayEdit("domains");
  return (
    <dl className="labels">
      <Row label="Owners">
        {owners.map(({ urn: owner, type, typeUrn }) => (
          <OwnerChip
            key={`${owner}${type}${typeUrn}`}
            urn={owner}
            kind={type}
            typeUrn={typeUrn}
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
            onAdd={(owner, typeUrn) =>
              edit(
                () => addOwner(urn, owner, typeUrn),
                "Owner added",
                withItem("ownership", "owners", {
                  ...{ owner, type: ownerTypeOf(typeUrn) },
                  ...(typeUrn === undefined ? {} : { typeUrn }),
                }),
              )
            }
          />
        )}
      </Row>
      <LabelRow
        urn={urn}
        kind={tagKind}
        labels={tags}
        edit={mayEdit(tagKind.aspect) ? edit : undefined}
      />
      <LabelRow
        urn={urn}
        kind={termKind}
        labels={terms}
        edit={mayEdit(termKind.aspect) ? edit : undefined}
      />
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

/** How labels of a kind are stored and written. */
interface LabelKind {
  readonly title: string;
  readonly noun: string;
  readonly entityType: string;
  readonly aspect: string;
  readonly list: string;
  /** Member of an item of the list. */
  readonly member: string;
  readonly add: typeof addTag;
  readonly remove: typeof removeTag;
  readonly create: typeof createTag;
}

const tagKind: LabelKind = {
  ...{ title: "Tags", noun: "tag", entityType: "tag" },
  ...{ aspect: "globalTags", list: "tags", member: "tag" },
  ...{ add: addTag, remove: removeTag, create: createTag },
};

const termKind: LabelKind = {
  ...{ title: "Terms", noun: "term", entityType: "glossaryTerm" },
  ...{ aspect: "glossaryTerms", list: "terms", member: "urn" },
  ...{ add: addTerm, remove: removeTerm, create: createTerm },
};

interface LabelRowProps {
  /** The labelled entity. */
  readonly urn: string;
  readonly kind: LabelKind;
  readonly labels: readonly string[];
  /** Absent where the user may not edit the labels. */
  readonly edit: Edit | undefined;
}

function LabelRow({ urn, kind, labels, edit }: LabelRowProps) {
  const { title, noun, entityType, aspect, list, member, add, remove, create } = kind;
  const name = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  const removal =
    edit &&
    ((label: string) =>
      edit(
        () => remove({ urn }, label),
        `${name} removed`,
        withoutItem(aspect, list, member, label),
      ));
  return (
    <Row label={title}>
      {labels.map((label) => (
        <EntityChip key={label} urn={label} onRemove={removal && (() => removal(label))} />
      ))}
      {edit && (
        <AddLabel
          noun={noun}
          types={[entityType]}
          onAdd={(label) =>
            edit(
              () => add({ urn }, label),
              `${name} added`,
              withItem(aspect, list, { [member]: label }),
            )
          }
          onCreate={(newName) =>
            edit(async () => add({ urn }, await create(newName)), `${name} created and added`)
          }
        />
      )}
    </Row>
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
export function AddLabel(props: AddProps) {
  const [open, setOpen] = useState(false);
  const { noun } = props;
  return (
    <>
      <button
        type="button"
        className="button quiet add"
        aria-label={`Add a ${noun}`}
        title={`Add a ${noun}`}
        onClick={() => setOpen(true)}
      />
      {open && <AddDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Picks a label, or creates one where the user may. */
function AddDialog({ noun, types, onAdd, onCreate, onClose }: AddProps & { onClose: () => void }) {
  const mayCreate = types.some(useMayCreate());
  const create = (name: string) => {
    onClose();
    onCreate?.(name);
  };
  return (
    <Dialog title={`Add a ${noun}`} onClose={onClose}>
      <EntityPicker
        types={types}
        label={`Find a ${noun}`}
        onPick={(urn) => {
          onClose();
          onAdd(urn);
        }}
        onCreate={onCreate !== undefined && mayCreate ? create : undefined}
      />
    </Dialog>
  );
}

/** Adds an owner with a type of ownership of the catalog. */
function AddOwner({
  onAdd,
}: {
  readonly onAdd: (urn: string, typeUrn: string | undefined) => void;
}) {
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const { data: types = [] } = useQuery(ownershipTypesQuery);
  const technical = types.find(({ urn }) => ownerTypeOf(urn) === "TECHNICAL_OWNER");
  const typeUrn = chosen ?? (technical ?? types[0])?.urn;
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
              value={typeUrn}
              onChange={(event) => setChosen(event.target.value)}
            >
              {types.map(({ urn, info }) => (
                <option key={urn} value={urn}>
                  {info?.name ?? urn}
                </option>
              ))}
            </select>
          </label>
          <EntityPicker
            types={["corpuser", "corpGroup"]}
            label="Find a user or group"
            onPick={(urn) => {
              close();
              onAdd(urn, typeUrn);
            }}
          />
        </Dialog>
      )}
    </>
  );
}
