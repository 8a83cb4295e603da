import type { Api } from "../client/api.js";
import type { Io, Out } from "../output/out.js";
import { ENVIRONMENTS, type Settings } from "./settings.js";

/** What a command works with. */
export interface Context {
  io: Io;
  out: Out;
  settings: Settings;
  api: Api;
  /** All commands, for those that tell of others: importing them from there would go in a circle. */
  registry: CommandRegistry;
}

interface Described {
  describe: string;
  alias?: string;
}

/** A switch: absent means false. */
type FlagOption = Described & { type: "flag" };

/** A text; one of `choices` where they are given. An empty text is refused. */
type TextOption = Described & { type: "text"; choices?: readonly string[]; required?: true };

/** A whole number in [min, max]. */
type IntegerOption = Described & { type: "integer"; min: number; max: number; default?: number };

/** A text that may be given several times; absent means an empty list. */
type ListOption = Described & { type: "list" };

export type Option = FlagOption | TextOption | IntegerOption | ListOption;

/** Keys are names in camel case: `idempotencyKey` is `--idempotency-key` on the command line. */
export type Options = Readonly<Record<string, Option>>;

/** A positional argument: its description, or more where it may be left out or is one of few. */
export type Positional = string | { describe: string; optional?: true; choices?: readonly string[] };

/** Positional arguments in their order. */
export type Positionals = Readonly<Record<string, Positional>>;

type TextOf<O> = O extends { choices: readonly (infer C)[] } ? C : string;
type ValueOf<O extends Option> = O extends FlagOption
  ? boolean
  : O extends ListOption
    ? string[]
    : O extends IntegerOption
      ? number | (O extends { default: number } ? never : undefined)
      : TextOf<O> | (O extends { required: true } ? never : undefined);

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
  /** Whether it gives facts to somebody's language model for as long as it runs. */
  isForAssistants?: true;
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

/** Options that every command takes. */
export const sharedOptions = {
  directory: { type: "text", describe: "The project's directory; the current one unless given" },
  env: {
    type: "text",
    choices: ENVIRONMENTS,
    describe: "The environment: test or live; unless given, the project's default, or test",
  },
  json: { type: "flag", describe: "Print one JSON document, also for errors" },
  noColor: { type: "flag", describe: "Print without colours; so does the variable NO_COLOR" },
  debug: { type: "flag", describe: "Show stack traces" },
  noAi: { type: "flag", describe: "Disable the commands that ask a language model; so does SVC_NO_AI=1" },
} as const satisfies Options;

/** Options of commands that are about a project. */
export const projectOptions = {
  project: { type: "text", describe: "The project's slug; unless given, that of .kite/config.json" },
} as const satisfies Options;

/** Options of commands that list a part at a time. */
export const pageOptions = {
  limit: { type: "integer", min: 1, max: 10_000, default: 50, describe: "How many to show" },
  cursor: { type: "text", describe: "Go on where the page before ended" },
} as const satisfies Options;

/** The same of lists that are printed as comma-separated values, too. */
export const csvPageOptions = {
  ...pageOptions,
  csv: { type: "flag", describe: "Print all of the list as CSV, whatever --limit says" },
} as const satisfies Options;

/** Options of lists that have an order. */
export const reverseOption = {
  reverse: { type: "flag", describe: "The other way round: the newest or highest first" },
} as const satisfies Options;

/** For records that recomputes replace. */
export const supersededOption = {
  superseded: { type: "flag", describe: "Also what recomputes replaced, as far as it is kept" },
} as const satisfies Options;

/** For commands that tell of the past. */
export const pastOption = {
  type: "text",
  describe: "As of an instant: a date, a date-time, or how long ago, such as 30d",
} as const satisfies Options[string];

/** Options of commands that tell where a customer stood. */
export const travelOptions = {
  at: pastOption,
  version: { type: "text", describe: "Under this configuration version, such as v3; the active one unless given" },
} as const satisfies Options;

/** Options of commands whose facts a language model may be asked about. */
export const aiOptions = {
  ...projectOptions,
  model: {
    type: "text",
    describe: "The language model or deployment to ask; unless given, the one the operator chose",
  },
  facts: { type: "flag", describe: "Tell the facts alone: no language model is asked, and nothing is sent" },
  output: { type: "text", describe: "Write to this file too, which must not be there yet" },
  showContext: { type: "flag", describe: "Print exactly what would be sent, and send nothing" },
} as const satisfies Options;

/** The same of commands about a customer. */
export const customerAiOptions = {
  ...aiOptions,
  allow: {
    type: "list",
    describe: "A trait or property whose texts and dates may be sent too; may be given several times",
  },
} as const satisfies Options;

export const yesOption = {
  yes: { type: "flag", alias: "y", describe: "Do not ask for confirmation" },
} as const satisfies Options;

export const noWaitOption = {
  noWait: { type: "flag", describe: "Do not wait for the end: return once it is queued" },
} as const satisfies Options;

export const forceOption = {
  force: { type: "flag", describe: "Go on despite data that this would strand" },
} as const satisfies Options;

/** A command as the lists in help texts show it. Its options and what it does stand in its file, which is loaded when it may be meant. */
export interface ListedCommand {
  /** The words that select it: a noun and a verb, such as `customers inspect`, or one word. */
  path: string;
  /** Its positional arguments as help texts show them: `<customerId>`, `[from] [to]`; empty where there are none. */
  args: string;
  describe: string;
  load: () => Promise<AnyCommand>;
}

/** All that the command line consists of. */
export interface CommandRegistry {
  commands: readonly ListedCommand[];
  nouns: Readonly<Record<string, string>>;
}
