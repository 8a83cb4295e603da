/**
 * How a value is kept as JSON, short: each evaluation of a customer parses and writes all of it. `read` makes of what `write` made an equal
 * value, which shares with it what is kept as it is.
 */
export interface StoredForm<T, Kept> {
  readonly write: (value: T) => Kept;
  readonly read: (kept: Kept) => T;
}

/** The form of what is written and read so. */
export function form<T, Kept>(write: (value: T) => Kept, read: (kept: Kept) => T): StoredForm<T, Kept> {
  return { write, read };
}

/** The form also of null, which is kept as that. */
export function nullableForm<T, Kept>({ write, read }: StoredForm<T, Kept>): StoredForm<T | null, Kept | null> {
  return form(
    (value) => (value === null ? null : write(value)),
    (kept) => (kept === null ? null : read(kept)),
  );
}

/** The form of a list, item by item. */
export function listForm<T, Kept>({ write, read }: StoredForm<T, Kept>): StoredForm<T[], Kept[]> {
  return form(
    (values) => values.map(write),
    (kept) => kept.map(read),
  );
}

/** Values by names of parts of a model, none of which is `__proto__`. */
export function recordOf<T, Kept>({
  write,
  read,
}: StoredForm<T, Kept>): StoredForm<Record<string, T>, Record<string, Kept>> {
  return form(
    (values) => mapped(values, write),
    (kept) => mapped(kept, read),
  );
}

function mapped<From, To>(values: Record<string, From>, map: (value: From) => To): Record<string, To> {
  const found: Record<string, To> = {};
  for (const name of Object.keys(values)) found[name] = map(values[name]!);
  return found;
}

/** Whole numbers, of each how much more it is than the one before, and the first as it is: instants and numbers of events are long. */
export const differences: StoredForm<number[], number[]> = form(
  (values) => values.map((value, index) => (index === 0 ? value : value - values[index - 1]!)),
  (kept) => {
    let sum = 0;
    return kept.map((difference) => (sum += difference));
  },
);
