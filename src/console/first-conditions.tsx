import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { formatNumber } from "../words/text.js";
import { Empty } from "./parts.js";

/** A condition, of a model or of an explanation: a group has others in it. */
interface Tree {
  readonly kind: string;
  readonly conditions?: readonly Tree[] | undefined;
}

/** A page shows so many; a model may have thousands. */
const MAX = 1_000;

const Shown = createContext<ReadonlySet<unknown> | null>(null);

/** Whatever shows these conditions inside shows the first of them, in the order in which they are read. @param rest where all are to be had */
export function FirstConditions(props: { of: readonly Tree[]; rest: string; children: ComponentChildren }) {
  const shown = new Set<unknown>();
  const isWhole = add(props.of, shown);
  return (
    <Shown.Provider value={shown}>
      {props.children}
      {isWhole ? null : (
        <Empty>
          Only the first {formatNumber(MAX)} conditions are shown: <code>{props.rest}</code> tells all.
        </Empty>
      )}
    </Shown.Provider>
  );
}

/** Adds them as far as there is room; false where there is not for all. */
function add(trees: readonly Tree[], shown: Set<unknown>): boolean {
  return trees.every((tree) => {
    if (shown.size === MAX) return false;
    shown.add(tree);
    return add(tree.conditions ?? [], shown);
  });
}

/** Those of the conditions that are shown here. */
export function useShown<Condition extends Tree>(conditions: readonly Condition[]): readonly Condition[] {
  const shown = useContext(Shown);
  return shown === null ? conditions : conditions.filter((condition) => shown.has(condition));
}
