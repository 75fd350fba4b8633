/** Links of an entity: those that people add, and its address in the source system. */
import type { Entity } from "../../api/entities.ts";
import { listAt, textAt } from "../../api/json.ts";
import { useMayWrite } from "../../api/privileges.ts";
import { removeLink } from "../../api/writes.ts";
import { Icon } from "../../components/icon.tsx";
import { safeUrl } from "../../components/safe-url.ts";
import { withoutItem } from "./editing/guesses.ts";
import { useEdit } from "./editing/use-edit.ts";

interface LinksProps {
  readonly entity: Entity;
  readonly readOnly: boolean;
}

interface LinkText {
  readonly url: string;
  readonly label: string;
  /** Absent where the link cannot be removed. */
  readonly onRemove?: (() => void) | undefined;
}

export function EntityLinks({ entity, readOnly }: LinksProps) {
  const { urn, aspects } = entity;
  const edit = useEdit(urn);
  const mayRemove = useMayWrite(urn)("institutionalMemory") && !readOnly;
  const removal = (url: string) => () =>
    void edit(
      () => removeLink(urn, url),
      "Link removed",
      withoutItem("institutionalMemory", "elements", "url", url),
    );
  const external = [...aspects.values()].flatMap(({ value }): readonly LinkText[] => {
    const url = textAt(value, "externalUrl");
    return url === undefined ? [] : [{ url, label: "Open in the source" }];
  });
  const added = listAt(aspects.get("institutionalMemory")?.value, "elements").map((one) => {
    const url = textAt(one, "url") ?? "";
    return {
      url,
      label: textAt(one, "description") ?? url,
      onRemove: mayRemove ? removal(url) : undefined,
    };
  });
  const links: readonly LinkText[] = [...external, ...added];
  if (links.length === 0) return null;
  return (
    <ul className="row">
      {links.map(({ url, label, onRemove }) => (
        <li key={`${url}${label}`} className="row tight small">
          <Icon name="link" />
          <LinkOrText url={url} label={label} />
          {onRemove !== undefined && (
            <button
              type="button"
              className="button quiet icon"
              aria-label={`Remove the link ${label}`}
              title="Remove"
              onClick={onRemove}
            >
              <Icon name="close" />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function LinkOrText({ url, label }: Pick<LinkText, "url" | "label">) {
  const href = safeUrl(url);
  return href === undefined ? (
    <span title="Links lead to http, https and mailto only">{label}</span>
  ) : (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {label}
    </a>
  );
}
