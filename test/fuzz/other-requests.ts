/** Hostile events of OpenLineage, and calls of the tools of /mcp that write. */
import type { Model } from "../../src/model/model.ts";
import { facetEvents } from "../openlineage/facet-events.ts";
import type { Client } from "../support/client.ts";
import type { Chance } from "./chance.ts";
import { createInput, type Input, object } from "./hostile-input.ts";
import type { WriteRequest } from "./write-requests.ts";

interface Making {
  readonly chance: Chance;
  readonly input: Input;
}

/** A valid event in which some names, texts and values are hostile. */
export const lineageEvent = (making: Making): unknown =>
  altered(making.chance.pick(Object.values(facetEvents)), making);

function altered(value: unknown, making: Making): unknown {
  const { chance, input } = making;
  if (chance.yes(0.02)) return input.json();
  if (Array.isArray(value)) return value.map((item) => altered(item, making));
  if (typeof value === "object" && value !== null) {
    return object(
      Object.entries(value).map(([name, member]) => [
        chance.yes(0.04) ? input.name() : name,
        altered(member, making),
      ]),
    );
  }
  if (typeof value !== "string" || !chance.yes(0.15)) return value;
  return chance.yes(0.5) ? input.text() : input.urn();
}

/** The part of a JSON Schema that the tools use. */
interface Argument {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly items?: Argument;
  readonly properties?: Readonly<Record<string, Argument>>;
  readonly required?: readonly string[];
}

interface Tool {
  readonly name: string;
  readonly inputSchema: Argument;
  readonly annotations?: { readonly readOnlyHint?: boolean };
}

const call = (method: string, params: object): Omit<WriteRequest, "route"> => ({
  ...{ method: "POST", path: "/mcp", headers: { Accept: "application/json, text/event-stream" } },
  body: { jsonrpc: "2.0", id: 1, method, params },
});

export async function readTools(client: Client): Promise<readonly Tool[]> {
  const { method, path, body, headers } = call("tools/list", {});
  const reply = await client.call(method, path, body, headers);
  return reply.body.result.tools.filter((tool: Tool) => tool.annotations?.readOnlyHint !== true);
}

export function createToolCalls(
  chance: Chance,
  model: Model,
  tools: readonly Tool[],
): () => WriteRequest {
  const making = { chance, input: createInput(chance, model) };
  return () => {
    const { name, inputSchema } = chance.pick(tools);
    const passed = { name, arguments: argumentOf(inputSchema, making, name) };
    return { route: `tool ${name}`, ...call("tools/call", passed) };
  };
}

function argumentOf(schema: Argument, making: Making, name: string): unknown {
  const { chance, input } = making;
  if (chance.yes(0.02)) return input.json();
  if (schema.enum !== undefined) return chance.pick(schema.enum);
  switch (schema.type) {
    case "object": {
      const { properties = {}, required = [] } = schema;
      const given = Object.entries(properties).filter(
        ([member]) => required.includes(member) || chance.yes(0.5),
      );
      return object(given.map(([member, of]) => [member, argumentOf(of, making, member)]));
    }
    case "array": {
      const { items = {} } = schema;
      return [items, ...chance.list(1, () => items)].map((item) => argumentOf(item, making, name));
    }
    case "boolean":
      return chance.yes(0.5);
    case "integer":
    case "number":
      return chance.int(1000) - 10;
    default:
      return /urn/i.test(`${name} ${schema.description}`) ? input.urn() : input.text();
  }
}
