/** Prompts: questions about the catalog that users choose in the menu of their client. */
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const urn = z.string().max(8_192).describe("Urn of the entity");

const prompts = [
  {
    name: "describe_entity",
    title: "Describe an entity",
    description: "What it is, who owns it, where it comes from and what depends on it",
    argsSchema: { urn },
    text: ({ urn }: Values) =>
      `Describe the entity ${urn} of the catalog for a new colleague: its purpose, owners, columns, upstream and downstream entities. Use get_entities, list_columns and get_lineage. Name the position of the log.`,
  },
  {
    name: "assess_impact",
    title: "Assess the impact of a change",
    description: "The entities and people that a change of an entity concerns",
    argsSchema: { urn, change: z.string().max(2_000).describe("The planned change") },
    text: ({ urn, change }: Values) =>
      `I plan to change ${urn}: ${change}. Use get_lineage (DOWNSTREAM, several hops) and get_entities to list the entities that depend on it, their owners, and what each owner has to check.`,
  },
  {
    name: "summarize_changes",
    title: "Summarize the changes since a time",
    description: "What changed in the catalog, and who changed it",
    argsSchema: { since: z.string().max(60).describe("ISO 8601 time") },
    text: ({ since }: Values) =>
      `Summarize what changed in the catalog since ${since}, by entity and by writer. Use get_changes until it returns no more changes.`,
  },
] as const;

type Values = Readonly<Record<string, unknown>>;

export function registerPrompts(server: McpServer): void {
  for (const { name, text, ...config } of prompts) {
    server.registerPrompt(name, config as PromptConfig, (values: Values) => ({
      messages: [{ role: "user" as const, content: { type: "text" as const, text: text(values) } }],
    }));
  }
}

type PromptConfig = {
  title: string;
  description: string;
  argsSchema: Record<string, z.ZodString>;
};
