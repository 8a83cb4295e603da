/**
 * How a value is kept as JSON, short: each evaluation of a customer parses and writes all of it. `read` makes of what `write` made an equal
 * value, which shares with it what is kept as it is.
 */
export interface Form<T> {
  write(this: void, value: T): unknown;
  read(this: void, kept: unknown): T;
}

const AS_IS: Form<unknown> = { write: (value) => value, read: (kept) => kept };

export function asIs<T>(): Form<T> {
  return AS_IS as Form<T>;
}

export function orNull<T>({ write, read }: Form<T>): Form<T | null> {
  return {
    write: (value) => (value === null ? null : write(value)),
    read: (kept) => (kept === null ? null : read(kept)),
  };
}

export function listOf<T>({ write, read }: Form<T>): Form<T[]> {
  return { write: (values) => values.map(write), read: (kept) => (kept as unknown[]).map(read) };
}

/** Values by name. */
export function recordOf<T>({ write, read }: Form<T>): Form<Record<string, T>> {
  return {
    write: (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, write(value)])),
    read: (kept) => Object.fromEntries(Object.entries(kept as object).map(([name, value]) => [name, read(value)])),
  };
}

/** Whole numbers, of each how much more it is than the one before, and the first as it is: instants and numbers of events are long. */
export const differences: Form<number[]> = {
  write: (values) => values.map((value, index) => (index === 0 ? value : value - values[index - 1]!)),
  read(kept) {
    let sum = 0;
    return (kept as number[]).map((difference) => (sum += difference));
  },
};

/** An object as the list of its members in this order. Those that may be absent come last, and end the list where they are. */
export function members<T extends object>(forms: { [Name in keyof Required<T>]: Form<T[Name]> }): Form<T> {
  const named = Object.entries<Form<unknown>>(forms);
  return {
    write(value) {
      const kept: unknown[] = [];
      for (const [name, form] of named) {
        const member = (value as Record<string, unknown>)[name];
        if (member === undefined) break;
        kept.push(form.write(member));
      }
      return kept;
    },
    read(kept) {
      const value: Record<string, unknown> = {};
      for (const [index, member] of (kept as unknown[]).entries()) {
        const [name, form] = named[index]!;
        value[name] = form.read(member);
      }
      return value as T;
    },
  };
}

/** An object of one member as that. */
export function only<Name extends string, T>(name: Name, { write, read }: Form<T>): Form<Record<Name, T>> {
  return { write: (value) => write(value[name]), read: (kept) => ({ [name]: read(kept) }) as Record<Name, T> };
}

/** Objects of several kinds, each of which has its `kind` as the first of its members. */
export function byKind<T extends { kind: string }>(forms: {
  [Kind in T["kind"]]: Form<Extract<T, { kind: Kind }>>;
}): Form<T> {
  const ofKind = forms as Record<string, Form<T>>;
  return {
    write: (value) => ofKind[value.kind]!.write(value),
    read: (kept) => ofKind[(kept as [string])[0]]!.read(kept),
  };
}
