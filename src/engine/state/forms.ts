/**
 * How a value is kept as JSON, short: each evaluation of a customer parses and writes all of it. `read` makes of what `write` made an equal
 * value, which shares with it what is kept as it is.
 */
export interface StoredForm<T> {
  readonly write: (value: T) => unknown;
  readonly read: (kept: never) => T;
}

/** The form of what is kept as it is. */
export const asIs = { write: (value: unknown): unknown => value, read: (kept: never): never => kept };

/** The form also of null, which is kept as that. */
export function nullableForm<T>({ write, read }: StoredForm<T>): StoredForm<T | null> {
  return {
    write: (value) => (value === null ? null : write(value)),
    read: (kept: unknown) => (kept === null ? null : read(kept as never)),
  };
}

/** The form of a list, item by item. */
export function listForm<T>({ write, read }: StoredForm<T>): StoredForm<T[]> {
  return {
    write: (values) => values.map((value) => write(value)),
    read: (kept: never[]) => kept.map((item) => read(item)),
  };
}

/**
 * The form of an object: the list of its members, without names, in the order in which their forms are named. States stay as they are for
 * years: a member has its place for good, and another one comes at the end, where it is left out as long as it is absent.
 */
export function objectForm<T extends object>(forms: {
  readonly [Name in keyof T]-?: StoredForm<Exclude<T[Name], undefined>>;
}): StoredForm<T> {
  const names = Object.keys(forms) as (keyof T)[];
  const members = Object.values(forms) as StoredForm<unknown>[];
  return {
    write(value) {
      const kept: unknown[] = [];
      for (let place = 0; place < names.length; place++) {
        const member = value[names[place]!];
        if (member !== undefined) kept.push(members[place]!.write(member));
      }
      return kept;
    },
    read(kept: never[]) {
      const value: Partial<Record<keyof T, unknown>> = {};
      for (let place = 0; place < kept.length; place++) value[names[place]!] = members[place]!.read(kept[place]!);
      return value as T;
    },
  };
}

/** Values by names of parts of a model, none of which is `__proto__`. */
export function recordForm<T>({ write, read }: StoredForm<T>): StoredForm<Record<string, T>> {
  return {
    write: (values) => mapped(values, write),
    read: (kept: Record<string, never>) => mapped(kept, read),
  };
}

function mapped<From, To>(values: Record<string, From>, map: (value: From) => To): Record<string, To> {
  const found: Record<string, To> = {};
  for (const name of Object.keys(values)) found[name] = map(values[name]!);
  return found;
}

/** Whole numbers, of each how much more it is than the one before, and the first as it is: instants and numbers of events are long. */
export const differences: StoredForm<number[]> = {
  write: (values) => values.map((value, index) => (index === 0 ? value : value - values[index - 1]!)),
  read(kept: number[]) {
    let sum = 0;
    return kept.map((difference) => (sum += difference));
  },
};
