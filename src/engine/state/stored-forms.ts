/**
 * How a value is stored as compact JSON: each evaluation of a customer parses and writes all of it. `read` turns the output of `write` back
 * into an equal value; the two share whatever is stored `asIs`.
 */
export interface StoredForm<T> {
  readonly write: (value: T) => unknown;
  readonly read: (stored: never) => T;
}

/** The form of a value that is stored unchanged. */
export const asIs = { write: (value: unknown): unknown => value, read: (stored: never): never => stored };

/** Extends a form to null, which is stored as null. */
export function nullableForm<T>({ write, read }: StoredForm<T>): StoredForm<T | null> {
  return {
    write: (value) => (value === null ? null : write(value)),
    read: (stored: unknown) => (stored === null ? null : read(stored as never)),
  };
}

/** The form of a list, item by item. */
export function listForm<T>({ write, read }: StoredForm<T>): StoredForm<T[]> {
  return {
    write: (values) => values.map((value) => write(value)),
    read: (stored: never[]) => stored.map((item) => read(item)),
  };
}

/**
 * The form of an object: the list of its members, without names, in the order in which `forms` declares them. Stored states live for years,
 * so a member's position never changes. A new member goes at the end and must be optional: it is left out while it is undefined.
 */
export function objectForm<T extends object>(forms: {
  readonly [Name in keyof T]-?: StoredForm<Exclude<T[Name], undefined>>;
}): StoredForm<T> {
  const names = Object.keys(forms) as (keyof T)[];
  const members = Object.values(forms) as StoredForm<unknown>[];
  return {
    write(value) {
      const stored: unknown[] = [];
      for (let i = 0; i < names.length; i++) {
        const member = value[names[i]!];
        if (member !== undefined) stored.push(members[i]!.write(member));
      }
      return stored;
    },
    read(stored: never[]) {
      const value: Partial<Record<keyof T, unknown>> = {};
      for (let i = 0; i < stored.length; i++) value[names[i]!] = members[i]!.read(stored[i]!);
      return value as T;
    },
  };
}

/** The form of values keyed by names of model parts, none of which is `__proto__`. */
export function recordForm<T>({ write, read }: StoredForm<T>): StoredForm<Record<string, T>> {
  return {
    write: (values) => mapped(values, write),
    read: (stored: Record<string, never>) => mapped(stored, read),
  };
}

function mapped<From, To>(values: Record<string, From>, map: (value: From) => To): Record<string, To> {
  const result: Record<string, To> = {};
  for (const name of Object.keys(values)) result[name] = map(values[name]!);
  return result;
}

/** Whole numbers, stored as the first one followed by differences: instants and event numbers have many digits. */
export const differences: StoredForm<number[]> = {
  write: (values) => values.map((value, index) => (index === 0 ? value : value - values[index - 1]!)),
  read(stored: number[]) {
    let sum = 0;
    return stored.map((difference) => (sum += difference));
  },
};
