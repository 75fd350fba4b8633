/** The schema of the service, by introspection. */
import { useQuery } from "@tanstack/react-query";
import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from "graphql";
import { queryGraphql } from "../../api/http.ts";

export const useSchema = () =>
  useQuery<GraphQLSchema>({
    queryKey: ["graphql schema"],
    queryFn: async () =>
      buildClientSchema(await queryGraphql<IntrospectionQuery>(getIntrospectionQuery())),
    staleTime: Number.POSITIVE_INFINITY,
  });
