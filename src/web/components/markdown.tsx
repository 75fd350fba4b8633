/** Markdown of the catalog as HTML. The only place that puts HTML into the page: sanitized first. */
import DOMPurify from "dompurify";
import { marked } from "marked";
import { useMemo } from "react";

const allowed = {
  ALLOWED_TAGS: [
    ..."a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong".split(" "),
    ..."table tbody td th thead tr ul".split(" "),
  ],
  ALLOWED_ATTR: ["href", "title", "align", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

export default function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => {
    const parsed = marked.parse(text, { async: false, gfm: true });
    const clean = DOMPurify.sanitize(parsed, { ...allowed, RETURN_DOM_FRAGMENT: true });
    for (const link of clean.querySelectorAll("a")) {
      link.setAttribute("rel", "noopener noreferrer nofollow");
      link.setAttribute("target", "_blank");
    }
    const holder = document.createElement("div");
    holder.append(clean);
    return holder.innerHTML;
  }, [text]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: DOMPurify sanitized the HTML above.
  return <div className="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
