/** A whole conversation by a GraphQL client that people use. */
import { GraphQLClient, gql } from "graphql-request";
import { expect, test } from "vitest";
import { guardedService } from "../auth/guarded-service.ts";

const LIST = gql`
  query List($input: ListAccessTokenInput!) {
    listAccessTokens(input: $input) {
      start
      count
      total
      tokens {
        urn
        id
        actorUrn
      }
    }
  }
`;

interface Listed {
  readonly listAccessTokens: { readonly total: number; readonly tokens: readonly { id: string }[] };
}

test("from the first token to the last", async () => {
  await using service = await guardedService();
  const endpoint = `${service.address}/api/graphql`;

  const stranger = new GraphQLClient(endpoint);
  await expect(stranger.request("{ me { corpUser { urn } } }")).rejects.toMatchObject({
    response: { status: 401 },
  });

  const operator = new GraphQLClient(endpoint, { headers: service.operator });
  const created = await operator.request<{
    createAccessToken: { accessToken: string; metadata: { id: string; name: string } };
  }>(
    gql`
      mutation Create($input: GetAccessTokenInput!) {
        createAccessToken(input: $input) {
          accessToken
          metadata {
            id
            name
            description
          }
        }
      }
    `,
    {
      input: {
        type: "PERSONAL",
        actorUrn: "urn:li:corpuser:datahub",
        duration: "ONE_DAY",
        name: "conversation",
      },
    },
  );
  const { accessToken, metadata } = created.createAccessToken;
  expect(metadata).toMatchObject({ name: "conversation", description: null });

  const root = new GraphQLClient(endpoint, { headers: { Authorization: `Bearer ${accessToken}` } });
  expect(await root.request("{ me { corpUser { urn username } } }")).toEqual({
    me: { corpUser: { urn: "urn:li:corpuser:datahub", username: "datahub" } },
  });
  const own = { field: "actorUrn", values: ["urn:li:corpuser:datahub"] };
  const listed = await root.request<Listed>(LIST, {
    input: { start: 0, count: 10, filters: [own] },
  });
  expect(listed.listAccessTokens).toMatchObject({ total: 1, tokens: [{ id: metadata.id }] });

  const REVOKE = gql`
    mutation Revoke($id: String!) {
      revokeAccessToken(tokenId: $id)
    }
  `;
  await expect(root.request(REVOKE, { id: "another" })).rejects.toMatchObject({
    response: { errors: [{ message: expect.stringContaining("Failed to revoke access token") }] },
  });
  expect(await root.request(REVOKE, { id: metadata.id })).toEqual({ revokeAccessToken: true });
  // It revoked itself.
  await expect(root.request("{ me { corpUser { urn } } }")).rejects.toMatchObject({
    response: { status: 401, body: expect.stringContaining("the bearer token was revoked") },
  });
  const left = await operator.request<Listed>(LIST, { input: {} });
  expect(left.listAccessTokens.total).toBe(0);
});
