/** The members of a record that the model knows as they now are, and the others as they were, by id in order. */
export function merged<T>(
  before: Record<string, T>,
  ids: readonly string[],
  values: readonly (T | undefined)[],
): Record<string, T> {
  const entries = new Map(Object.entries(before));
  ids.forEach((id, index) => {
    const value = values[index];
    if (value === undefined) entries.delete(id);
    else entries.set(id, value);
  });
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A member that a record has itself. */
export function member<T>(record: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(record, id) ? record[id] : undefined;
}
