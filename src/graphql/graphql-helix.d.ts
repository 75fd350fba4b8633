/** The used part of graphql-helix; the package does not export its declarations to modules. */
declare module "graphql-helix" {
  import type { DocumentNode, ExecutionResult, execute, GraphQLSchema, validate } from "graphql";

  export function processRequest<Context>(options: {
    readonly schema: GraphQLSchema;
    readonly query: DocumentNode;
    readonly variables?: Readonly<Record<string, unknown>> | undefined;
    readonly operationName?: string | undefined;
    readonly request: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly query: object;
    };
    readonly contextFactory: () => Context;
    readonly validate: typeof validate;
    readonly execute: typeof execute;
  }): Promise<
    | { readonly type: "RESPONSE"; readonly status: number; readonly payload: ExecutionResult }
    | { readonly type: "PUSH" }
    | { readonly type: "MULTIPART_RESPONSE" }
  >;
}
