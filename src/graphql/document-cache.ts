/**
 * A cache of valid queries by their text, parsed and checked: clients repeat the same few queries, and the
 * largest take longer to validate than to execute.
 */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  validate,
  visit,
} from "graphql";
import { LRUCache } from "lru-cache";
import { checkLimits, checkText, tokensMax } from "./limits.ts";

/** `errors`: the reasons why the text is not a valid query. */
type Prepared =
  | { readonly document: DocumentNode; readonly errors?: undefined }
  | { readonly document?: undefined; readonly errors: readonly GraphQLError[] };

interface DocumentCache {
  /** Throws `malformed` for a query that exceeds a limit. */
  prepare(query: string): Prepared;
}

/**
 * Maximum number of characters of all cached texts. A parsed document takes about thirty times as many
 * bytes.
 */
const charactersMax = 1_000_000;

export function createDocumentCache(schema: GraphQLSchema): DocumentCache {
  const valid = new LRUCache<string, DocumentNode>({
    maxSize: charactersMax,
    sizeCalculation: (_, query) => query.length,
  });

  return {
    prepare(query) {
      const cached = valid.get(query);
      if (cached !== undefined) return { document: cached };
      checkText(query);
      let document: DocumentNode;
      try {
        document = parse(query, { maxTokens: tokensMax });
      } catch (error) {
        if (!(error instanceof GraphQLError)) throw error;
        return { errors: [error] };
      }
      checkLimits(document);
      document = withCurrentNames(document);
      const errors = validate(schema, document);
      if (errors.length > 0) return { errors };
      valid.set(query, document);
      return { document };
    },
  };
}

/** Replaces older names of input types in variables by the current names. */
const withCurrentNames = (document: DocumentNode): DocumentNode =>
  selects(document, "getAccessToken") ? document : renamed(document);

function selects(document: DocumentNode, field: string): boolean {
  let found = false;
  visit(document, {
    Field: ({ name }) => {
      found ||= name.value === field;
    },
  });
  return found;
}

const renamed = (document: DocumentNode): DocumentNode =>
  visit(document, {
    VariableDefinition: (definition) =>
      visit(definition, {
        NamedType: (node) =>
          node.name.value === "GetAccessTokenInput"
            ? { ...node, name: { kind: Kind.NAME, value: "CreateAccessTokenInput" } }
            : undefined,
      }),
  });
