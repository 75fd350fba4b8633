/** The types of the schema: a search over their names, and each type with its fields. */
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from "graphql";
import { useState } from "react";

const shownMax = 100;

export function DocsPanel({ schema }: { readonly schema: GraphQLSchema }) {
  const [path, setPath] = useState<readonly string[]>([]);
  const [search, setSearch] = useState("");
  const type = schema.getType(path.at(-1) ?? "");
  const open = (name: string) => {
    setSearch("");
    setPath([...path, name]);
  };
  return (
    <section className="graphiql-docs" aria-label="Schema">
      <input
        className="field"
        type="search"
        aria-label="Search types"
        placeholder="Search types"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {search !== "" ? (
        <Types schema={schema} search={search} open={open} />
      ) : type === undefined ? (
        <Roots schema={schema} open={open} />
      ) : (
        <>
          <button
            type="button"
            className="button quiet graphiql-back"
            onClick={() => setPath(path.slice(0, -1))}
          >
            Back
          </button>
          <TypeDetails type={type} open={open} />
        </>
      )}
    </section>
  );
}

interface Opens {
  readonly open: (name: string) => void;
}

const TypeLink = ({ name, text = name, open }: Opens & { name: string; text?: string }) => (
  <button type="button" className="graphiql-type" onClick={() => open(name)}>
    {text}
  </button>
);

function Roots({ schema, open }: Opens & { readonly schema: GraphQLSchema }) {
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((type) => type != null);
  return (
    <ul>
      {roots.map(({ name, description }) => (
        <li key={name}>
          <TypeLink name={name} open={open} />
          <p className="muted">{description}</p>
        </li>
      ))}
    </ul>
  );
}

function Types({ schema, search, open }: Opens & { schema: GraphQLSchema; search: string }) {
  const words = search.toLowerCase();
  const names = Object.keys(schema.getTypeMap()).filter(
    (name) => !name.startsWith("__") && name.toLowerCase().includes(words),
  );
  return (
    <>
      <p className="muted" role="status">
        {names.length === 1 ? "1 type" : `${names.length} types`}
      </p>
      <ul>
        {names.slice(0, shownMax).map((name) => (
          <li key={name}>
            <TypeLink name={name} open={open} />
          </li>
        ))}
      </ul>
    </>
  );
}

function TypeDetails({ type, open }: Opens & { readonly type: GraphQLNamedType }) {
  return (
    <>
      <h3>{type.name}</h3>
      {type.description != null && <p className="muted">{type.description}</p>}
      <ul>
        {(isObjectType(type) || isInterfaceType(type)) &&
          Object.values(type.getFields()).map((field) => (
            <Field key={field.name} field={field} open={open} />
          ))}
        {isInputObjectType(type) &&
          Object.values(type.getFields()).map(({ name, type: of, description }) => (
            <li key={name}>
              <code>{name}: </code>
              <TypeLink name={getNamedType(of).name} text={String(of)} open={open} />
              <p className="muted">{description}</p>
            </li>
          ))}
        {isEnumType(type) &&
          type.getValues().map(({ name, description }) => (
            <li key={name}>
              <code>{name}</code>
              <p className="muted">{description}</p>
            </li>
          ))}
        {isUnionType(type) &&
          type.getTypes().map(({ name }) => (
            <li key={name}>
              <TypeLink name={name} open={open} />
            </li>
          ))}
      </ul>
    </>
  );
}

function Field({ field, open }: Opens & { readonly field: GraphQLField<unknown, unknown> }) {
  const { name, args, type, description, deprecationReason } = field;
  return (
    <li>
      <code>{name}</code>
      {args.length > 0 && (
        <span className="graphiql-arguments">
          (
          {args.map((argument, i) => (
            <span key={argument.name}>
              {i > 0 && ", "}
              <code>{argument.name}: </code>
              <TypeLink
                name={getNamedType(argument.type).name}
                text={String(argument.type)}
                open={open}
              />
            </span>
          ))}
          )
        </span>
      )}
      <code>: </code>
      <TypeLink name={getNamedType(type).name} text={String(type)} open={open} />
      {description != null && <p className="muted">{description}</p>}
      {deprecationReason != null && <p className="muted">Deprecated: {deprecationReason}</p>}
    </li>
  );
}
