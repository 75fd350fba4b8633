/**
 * Views of which pages are others than were written, and those that may have been made of what stood
 * there: none of them is what the log says, until all that it is made of is grown anew, and then itself.
 */

export interface ChangedViews {
  /** `views` are changed because of what was found in one of them, or in what they are made of. */
  add(found: string, views: readonly string[]): void;
  /** Other editions of these views, grown together, are in place. */
  remove(views: readonly string[]): void;
  names(): readonly string[];
  onChanged(listener: (view: string, isChanged: boolean) => void): void;
}

/** `first`: those that are known. `onMore`: called before the listeners, when there are more. */
export function createChangedViews(first: readonly string[], onMore: () => void): ChangedViews {
  /** In which views that was found which makes a view one of them. */
  const causes = new Map<string, Set<string>>(first.map((view) => [view, new Set([view])]));
  const listeners: ((view: string, isChanged: boolean) => void)[] = [];
  const tell = (views: readonly string[], isChanged: boolean): void => {
    for (const view of views) for (const listener of listeners) listener(view, isChanged);
  };

  return {
    add(found, views) {
      const more = views.filter((view) => !causes.has(view));
      for (const view of views) {
        const of = causes.get(view) ?? new Set();
        causes.set(view, of.add(found));
      }
      if (more.length > 0) onMore();
      tell(more, true);
    },
    remove(views) {
      const left = new Set([...causes].filter(([view, of]) => of.has(view)).map(([view]) => view));
      for (const view of views) left.delete(view);
      const whole: string[] = [];
      for (const view of views) {
        const of = causes.get(view);
        if (of === undefined) continue;
        for (const found of of) if (!left.has(found)) of.delete(found);
        if (of.size > 0) continue;
        causes.delete(view);
        whole.push(view);
      }
      tell(whole, false);
    },
    names: () => [...causes.keys()],
    onChanged: (listener) => void listeners.push(listener),
  };
}
