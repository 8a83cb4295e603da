type Reads = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The order of evaluation of a model's items: an item comes after those whose value it reads. Items that read each other in
 * a cycle stand together, in the default order; and wherever nothing else says otherwise, items are taken in the default
 * order, each directly after what it reads.
 *
 * @param names the items in the default order
 * @param reads what each item reads; names that are no items are ignored
 */
export function orderByReads(names: readonly string[], reads: Reads): string[] {
  const groups = findGroups(names, reads);
  const groupOf = new Map(groups.flatMap((group) => group.map((name) => [name, group])));
  const placed = new Set<string[]>();
  const order: string[] = [];
  const place = (group: string[]): void => {
    if (placed.has(group)) return;
    placed.add(group);
    const readByGroup = new Set(group.flatMap((name) => [...(reads.get(name) ?? [])]));
    for (const name of inDefaultOrder(readByGroup, names)) place(groupOf.get(name)!);
    order.push(...group);
  };
  for (const name of names) place(groupOf.get(name)!);
  return order;
}

/** The groups of items that read each other, or themselves, in a cycle. */
export function findCycles(names: readonly string[], reads: Reads): string[][] {
  return findGroups(names, reads).filter((group) => group.length > 1 || reads.get(group[0]!)?.has(group[0]!));
}

/** Tarjan's strongly connected components: items that read each other directly or through others, and single items. */
function findGroups(names: readonly string[], reads: Reads): string[][] {
  interface Node {
    order: number;
    low: number;
    open: boolean;
  }
  const known = new Set(names);
  const nodes = new Map<string, Node>();
  const path: string[] = [];
  const groups: string[][] = [];
  const visit = (name: string): Node => {
    const node = { order: nodes.size, low: nodes.size, open: true };
    nodes.set(name, node);
    path.push(name);
    for (const read of reads.get(name) ?? []) {
      if (!known.has(read)) continue;
      const other = nodes.get(read) ?? visit(read);
      if (other.open) node.low = Math.min(node.low, other.low);
    }
    if (node.low === node.order) {
      const group = path.splice(path.lastIndexOf(name));
      for (const member of group) nodes.get(member)!.open = false;
      groups.push(inDefaultOrder(new Set(group), names));
    }
    return node;
  };
  for (const name of names) if (!nodes.has(name)) visit(name);
  return groups;
}

function inDefaultOrder(some: ReadonlySet<string>, names: readonly string[]): string[] {
  return names.filter((name) => some.has(name));
}
