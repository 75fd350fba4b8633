/** Lists the keyboard shortcuts, and the query language of the search. */
import { useStore } from "../api/store.ts";
import { Dialog } from "../components/dialog.tsx";
import { queryFields } from "./search/query-fields.ts";
import { shortcutsStore } from "./shortcuts.ts";

const shortcuts: readonly (readonly [readonly string[], string])[] = [
  [["/"], "Search (also Ctrl K)"],
  [["↓", "↑"], "Move through results"],
  [["Enter"], "Open the result"],
  [["Ctrl", "Space"], "Complete the query in the search field"],
  [["?"], "This help"],
  [["g", "h"], "Home"],
  [["g", "s"], "Search"],
  [["g", "b"], "Browse"],
  [["g", "l"], "Log"],
  [["g", "r"], "Runs"],
  [["g", "v"], "Views and jobs"],
  [["g", "a"], "Access"],
];

const queries: readonly (readonly [string, string])[] = [
  ["seeds left", "both words"],
  ["germ*", "words with this prefix"],
  ['"cold store"', "the words as a phrase"],
  ["owners:imke.sorland", "a value of a field"],
  ["tags:*", "entities with a value in the field"],
  ["createdAt:>2026-03-01", "after a day; also <, and [a TO b]"],
  ["a OR b, -c, (a b)", "either, not, and groups"],
];

export const HelpDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Help" onClose={onClose}>
    <h3>Shortcuts</h3>
    <dl className="shortcuts">
      {shortcuts.map(([keys, text]) => (
        <div key={text} className="shortcut">
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
    <ShortcutSwitch />
    <h3>Queries</h3>
    <dl className="shortcuts">
      {queries.map(([query, text]) => (
        <div key={query} className="shortcut">
          <dt>
            <code>{query}</code>
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
    <h3>Fields of queries</h3>
    <dl className="shortcuts">
      {queryFields.map(({ name, label }) => (
        <div key={name} className="shortcut">
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{label}</dd>
        </div>
      ))}
    </dl>
    <p className="muted small">
      <a href="/restli/docs">API documentation</a> · <a href="/api/graphiql">GraphiQL</a> ·{" "}
      <a href="/openapi.json">OpenAPI document</a>
    </p>
  </Dialog>
);

function ShortcutSwitch() {
  const on = useStore(shortcutsStore);
  return (
    <label className="row tight">
      <input type="checkbox" checked={on} onChange={() => shortcutsStore.set(!on)} />
      Shortcuts that begin with <kbd>/</kbd>, <kbd>?</kbd> or <kbd>g</kbd>
    </label>
  );
}
