import type { Context } from "./context.js";

/** A switch: absent means false. */
export interface FlagOption {
  type: "flag";
  describe: string;
  alias?: string;
}

/** A text; one of `choices` where they are given. An empty text is refused. */
export interface TextOption {
  type: "text";
  describe: string;
  alias?: string;
  choices?: readonly string[];
  required?: true;
}

/** A whole number in [min, max]. */
export interface IntegerOption {
  type: "integer";
  describe: string;
  alias?: string;
  min: number;
  max: number;
  default?: number;
}

/** A text that may be given several times; absent means an empty list. */
export interface ListOption {
  type: "list";
  describe: string;
  alias?: string;
}

export type Option = FlagOption | TextOption | IntegerOption | ListOption;

/** Keys are names in camel case: `idempotencyKey` is `--idempotency-key` on the command line. */
export type Options = Readonly<Record<string, Option>>;

/** A positional argument: its description, or more where it may be left out or is one of few. */
export type Positional = string | { describe: string; optional?: true; choices?: readonly string[] };

/** Positional arguments in their order. */
export type Positionals = Readonly<Record<string, Positional>>;

type ValueOf<O extends Option> = O extends FlagOption
  ? boolean
  : O extends ListOption
    ? string[]
    : O extends IntegerOption
      ? O extends { default: number }
        ? number
        : number | undefined
      : O extends { choices: readonly (infer C)[] }
        ? O extends { required: true }
          ? C
          : C | undefined
        : O extends { required: true }
          ? string
          : string | undefined;

type ArgumentOf<P extends Positional> = P extends { optional: true } ? string | undefined : string;
type ValuesOf<A extends Positionals> = string extends keyof A ? unknown : { readonly [K in keyof A]: ArgumentOf<A[K]> };
type OptionValues<O extends Options> = string extends keyof O ? unknown : { readonly [K in keyof O]: ValueOf<O[K]> };

/** What a handler receives: one value per positional argument and option. */
export type Values<A extends Positionals, O extends Options> = ValuesOf<A> & OptionValues<O>;

/** One command as data; `registry.ts` has its words and what it does in one line. Only `adapter.ts` turns it into something that the parser of command lines understands. */
export interface Command<A extends Positionals = Positionals, O extends Options = Options> {
  args?: A;
  options?: O;
  /** Command lines with what each of them does; at least one. */
  examples: readonly [readonly [string, string], ...(readonly [string, string])[]];
  /** Does it, or throws: a `UserError` for what the user can mend, anything else is a fault of ours. */
  handler(context: Context, values: Values<A, O>): Promise<void>;
}

/** A command whose arguments and options are not known in detail, as the adapter handles them. */
export type AnyCommand = Omit<Command, "handler"> & { handler(context: Context, values: never): Promise<void> };

/** Returns its argument: it is there so that a handler's values are inferred from `args` and `options`. */
export function defineCommand<const A extends Positionals = Positionals, const O extends Options = Options>(
  command: Command<A, O>,
): Command<A, O> {
  return command;
}
