/** Documentation of an entity: its Markdown with editing, properties, and what its type adds. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Entity } from "../../api/entities.ts";
import { at, isObject } from "../../api/json.ts";
import { useMayDescribe } from "../../api/privileges.ts";
import { search } from "../../api/search.ts";
import { summaryOf } from "../../api/summary.ts";
import { sentenceCase } from "../../api/type-names.ts";
import { isUrn } from "../../api/urn.ts";
import { updateDescription } from "../../api/writes.ts";
import { DialogButtons } from "../../components/dialog.tsx";
import { EntityLabel, EntityLink } from "../../components/entity-link.tsx";
import { Icon } from "../../components/icon.tsx";
import Markdown from "../../components/markdown.tsx";
import { Empty } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { withDescription } from "./editing/guesses.ts";
import { checkUnchanged, useEdit } from "./editing/use-edit.ts";
import { GroupMembers, UserGroups } from "./membership.tsx";
import { DiffersBadge, differs } from "./now.tsx";
import { StructuredProperties } from "./properties/structured-properties.tsx";

interface TabProps {
  readonly entity: Entity;
  readonly readOnly: boolean;
  /** The entity as it is now, while the page shows the past. */
  readonly now: Entity | undefined;
}

export default function DocumentationTab({ entity, readOnly, now }: TabProps) {
  const { description, type } = summaryOf(entity.urn, entity.aspects);
  const marked =
    now !== undefined && differs(description, summaryOf(now.urn, now.aspects).description);
  return (
    <div className="documentation">
      <div className="stack">
        <Description urn={entity.urn} text={description} readOnly={readOnly} differs={marked} />
        {type === "corpGroup" && <GroupMembers urn={entity.urn} past={readOnly} />}
        {type === "corpuser" && <UserGroups urn={entity.urn} past={readOnly} />}
        <Members urn={entity.urn} type={type} />
      </div>
      <Facts entity={entity} readOnly={readOnly} />
    </div>
  );
}

interface DescriptionProps {
  readonly urn: string;
  readonly text: string;
  readonly readOnly: boolean;
  /** Now the description is another. */
  readonly differs: boolean;
}

interface Draft {
  readonly text: string;
  /** The description when the edit began; absent after a conflict, which the reader has seen. */
  readonly before?: string;
}

function Description({ urn, text, readOnly, differs: marked }: DescriptionProps) {
  const [draft, setDraft] = useState<Draft>();
  const edit = useEdit(urn);
  const mayEdit = useMayDescribe(urn) && !readOnly;
  const save = async ({ text: after, before = text }: Draft) => {
    setDraft(undefined);
    const write = async () => {
      await checkUnchanged(urn, { of: (aspects) => summaryOf(urn, aspects).description, before });
      await updateDescription({ urn }, after);
    };
    const saved = await edit(write, "Description saved", withDescription(urn, after));
    if (!saved) setDraft({ text: after });
  };
  if (draft !== undefined) {
    return (
      <form
        className="panel panel-body stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save(draft);
        }}
      >
        <label className="field-label">
          Description, in Markdown
          <textarea
            className="field"
            rows={12}
            value={draft.text}
            // biome-ignore lint/a11y/noAutofocus: the user asked to edit.
            autoFocus
            onChange={(event) => setDraft({ ...draft, text: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
                event.currentTarget.form?.requestSubmit();
              }
              if (event.key === "Escape") setDraft(undefined);
            }}
          />
        </label>
        <DialogButtons label="Save" onCancel={() => setDraft(undefined)} />
      </form>
    );
  }
  return (
    <section className="panel">
      <header>
        <h2>Description</h2>
        {marked && <DiffersBadge />}
        {mayEdit && (
          <button
            type="button"
            className="button quiet"
            onClick={() => setDraft({ text, before: text })}
          >
            <Icon name="edit" /> Edit
          </button>
        )}
      </header>
      {text === "" ? (
        <Empty title="No description">
          {mayEdit ? "Say what this is, where it comes from and how to use it." : null}
        </Empty>
      ) : (
        <div className="panel-body">
          <Markdown text={text} />
        </div>
      )}
    </section>
  );
}

/** The field of searches that leads from an entity of a type to its members. */
const memberFields = new Map<string, string>([
  ["domain", "domains"],
  ["container", "container"],
  ["tag", "tags"],
  ["glossaryTerm", "glossaryTerms"],
  ["glossaryNode", "parentNode"],
  ["dataPlatform", "platform"],
  ["corpuser", "owners"],
  ["corpGroup", "owners"],
]);

const memberTitles = new Map<string, string>([
  ["corpuser", "Owns"],
  ["corpGroup", "Owns"],
  ["tag", "Tagged entities"],
  ["glossaryTerm", "Entities with this term"],
]);

/** Entities that belong to this one: in a domain or container, with a tag, owned by a user. */
function Members({ urn, type }: { readonly urn: string; readonly type: string }) {
  const field = memberFields.get(type);
  const { data } = useQuery({
    queryKey: ["search", "members", urn],
    queryFn: ({ signal }) =>
      search({ query: "*", filters: new Map([[field ?? "", [urn]]]), count: 20, signal }),
    enabled: field !== undefined,
  });
  if (field === undefined || data === undefined || data.total === 0) return null;
  return (
    <section className="panel">
      <header>
        <h2>{memberTitles.get(type) ?? "Contains"}</h2>
        <Link to="/ui/search" search={{ f: `${field}:${urn}` }}>
          All {data.total}
        </Link>
      </header>
      <ul className="plain-list">
        {data.hits.map((hit) => (
          <li key={hit.urn}>
            <EntityLabel urn={hit.urn} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Members of aspects that the header or the description shows. */
const shownMembers: ReadonlySet<string> = new Set([
  ..."name displayName title description definition customProperties tags".split(" "),
  ..."externalUrl lastModified created auditStamp paths".split(" "),
]);

/** Simple values of the properties of the entity. */
function Facts({ entity, readOnly }: Omit<TabProps, "now">) {
  const aspects = [...entity.aspects.values()];
  const properties = aspects.filter(({ name }) => /(Properties|Info)$/.test(name));
  const facts = properties.flatMap(({ value }) =>
    Object.entries(value).filter(
      ([name, one]) =>
        !shownMembers.has(name) && one !== "" && (typeof one !== "object" || one === null),
    ),
  );
  const custom = properties.flatMap(({ value }) => {
    const found = at(value, "customProperties");
    return isObject(found) ? Object.entries(found) : [];
  });
  // The key of an entity that does not exist has no version.
  const last = aspects
    .filter(({ version }) => version !== "")
    .toSorted((a, b) => b.time - a.time)[0];
  return (
    <aside className="stack" aria-label="Properties">
      {last !== undefined && (
        <section className="panel">
          <header>
            <h2>Properties</h2>
          </header>
          <dl className="facts">
            {facts.map(([name, value]) => (
              <Fact key={name} name={sentenceCase(name)} value={value} />
            ))}
            <div>
              <dt>Last change</dt>
              <dd>
                <Time at={last.time} /> <span className="muted">by</span>{" "}
                <EntityLink urn={last.actor} />
              </dd>
            </div>
          </dl>
        </section>
      )}
      {custom.length > 0 && (
        <section className="panel">
          <header>
            <h2>Custom properties</h2>
          </header>
          <dl className="facts">
            {custom.map(([name, value]) => (
              <Fact key={name} name={name} value={value} />
            ))}
          </dl>
        </section>
      )}
      <StructuredProperties entity={entity} readOnly={readOnly} />
    </aside>
  );
}

const Fact = ({ name, value }: { readonly name: string; readonly value: unknown }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {typeof value === "string" && isUrn(value) ? (
        <EntityLink urn={value} />
      ) : typeof value === "number" && value > 946_684_800_000 ? (
        <Time at={value} />
      ) : (
        String(value)
      )}
    </dd>
  </div>
);
