/** Completion, checks and descriptions on hover for a query, from the schema. */
import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { graphql as graphqlMode, offsetToPos } from "cm6-graphql";
import type { GraphQLSchema } from "graphql";
import { getHoverInformation } from "graphql-language-service";

/** Without a schema, the editor highlights only. */
export function queryExtensions(schema: GraphQLSchema | undefined): Extension {
  return schema === undefined ? graphqlMode() : [graphqlMode(schema), hoverOver(schema)];
}

const hoverOver = (schema: GraphQLSchema): Extension =>
  hoverTooltip((view, offset) => {
    const { doc } = view.state;
    const at = offsetToPos(doc, offset);
    const text = getHoverInformation(schema, doc.toString(), at, undefined, { useMarkdown: false });
    if (typeof text !== "string" || text === "") return null;
    return {
      pos: offset,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "graphiql-hover";
        dom.textContent = text;
        return { dom };
      },
    };
  });
