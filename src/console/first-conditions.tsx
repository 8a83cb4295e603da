import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { formatNumber } from "../words/text.js";
import { Empty } from "./parts.js";

/** A condition of a model or of an explanation; a group contains others. */
interface Tree {
  readonly kind: string;
  readonly conditions?: readonly Tree[] | undefined;
}

/** The most conditions that a page shows; a model may have thousands. */
const MAX = 1_000;

const Shown = createContext<ReadonlySet<unknown> | null>(null);

/** Limits its children to the first MAX of these conditions, in reading order. @param rest the command that shows all */
export function FirstConditions(props: { of: readonly Tree[]; rest: string; children: ComponentChildren }) {
  const shown = new Set<unknown>();
  const isWhole = add(props.of, shown);
  return (
    <Shown.Provider value={shown}>
      {props.children}
      {isWhole ? null : (
        <Empty>
          Only the first {formatNumber(MAX)} conditions are shown; <code>{props.rest}</code> shows all of them.
        </Empty>
      )}
    </Shown.Provider>
  );
}

/** Adds conditions up to MAX; returns false if some were left out. */
function add(trees: readonly Tree[], shown: Set<unknown>): boolean {
  return trees.every((tree) => {
    if (shown.size === MAX) return false;
    shown.add(tree);
    return add(tree.conditions ?? [], shown);
  });
}

/** The conditions that are to be shown here. */
export function useShown<Condition extends Tree>(conditions: readonly Condition[]): readonly Condition[] {
  const shown = useContext(Shown);
  return shown === null ? conditions : conditions.filter((condition) => shown.has(condition));
}
