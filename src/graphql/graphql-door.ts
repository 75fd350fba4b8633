/**
 * The GraphQL door: a request's text in, the answer's text out. Limits, then validation, then for
 * each root field its rule and its resolver.
 */
import { type DocumentNode, execute, GraphQLError, Kind, parse, validate, visit } from "graphql";
import { processRequest } from "graphql-helix";
import { createSchema } from "./create-schema.ts";
import { shownError } from "./graphql-errors.ts";
import { checkLimits, queryCharactersMax, refuseOver, tokensMax } from "./limits.ts";
import type { Surroundings, Viewer } from "./viewer.ts";

export interface GraphqlRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly operationName?: string | undefined;
}

export interface GraphqlDoor {
  /**
   * JSON text `{data, errors, extensions}`: what goes wrong within is told in `errors`. Throws
   * `malformed` for a query that is too large. `actor`: who asks, if that is known.
   */
  execute(request: GraphqlRequest, actor: string | undefined): Promise<string>;
}

interface Options extends Surroundings {
  /** Told of a fault of ours, with nothing of the request in it. */
  readonly onFault: (fault: unknown) => void;
}

interface Payload {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[];
}

export function createGraphqlDoor({ onFault, ...surroundings }: Options): GraphqlDoor {
  const schema = createSchema();

  const shown = ({ data = null, errors }: Payload): string =>
    JSON.stringify({
      ...(errors !== undefined && { errors: errors.map((error) => shownError(error, onFault)) }),
      data,
      extensions: {},
    });

  return {
    async execute({ query, variables, operationName }, actor) {
      refuseOver("has", query.length, queryCharactersMax, "characters");
      let document: DocumentNode;
      try {
        document = parse(query, { maxTokens: tokensMax });
      } catch (error) {
        if (error instanceof GraphQLError) return shown({ errors: [error] });
        throw error;
      }
      checkLimits(document);
      const result = await processRequest<Viewer>({
        schema,
        query: withCurrentNames(document),
        variables,
        operationName,
        request: { method: "POST", headers: { accept: "application/json" }, query: {} },
        contextFactory: () => ({ ...surroundings, actor }),
        // Of the same copy of the package that made the schema, whichever helix would find.
        ...{ validate, execute },
      });
      if (result.type === "RESPONSE") return shown(result.payload);
      throw new Error("assertion failed: nothing of the schema is streamed");
    },
  };
}

/** Variables of an input type by its older name are of the one that the field takes. */
const withCurrentNames = (document: DocumentNode): DocumentNode =>
  visit(document, {
    VariableDefinition: (definition) =>
      visit(definition, {
        NamedType: (node) =>
          node.name.value === "GetAccessTokenInput"
            ? { ...node, name: { kind: Kind.NAME, value: "CreateAccessTokenInput" } }
            : undefined,
      }),
  });
