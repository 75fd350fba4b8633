/** Markdown of the catalog as HTML. The only place that puts HTML into the page: sanitized first. */
import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo } from "react";

const allowed = {
  ALLOWED_TAGS: [
    ..."a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong".split(" "),
    ..."table tbody td th thead tr ul".split(" "),
  ],
  ALLOWED_ATTR: ["href", "title", "align", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

/** HTML in Markdown is shown as text, and images as their text: neither reaches the parser of the browser. */
const markdown = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ text }) => escapeHtml(text),
  },
});

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export default function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => {
    const parsed = markdown.parse(text, { async: false });
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
