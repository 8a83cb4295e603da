import type { Api } from "../client/api.js";
import type { Io, Out } from "../output/out.js";
import { ENVIRONMENTS, type Settings } from "./settings.js";

/** What a command's handler receives besides its values. */
export interface Context {
  io: Io;
  out: Out;
  settings: Settings;
  api: Api;
  /** All commands, for commands that describe others: importing the registry there would be circular. */
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

/** A positional argument: its description, or an object where it is optional or has a fixed set of choices. */
export type Positional = string | { describe: string; optional?: true; choices?: readonly string[] };

/** Positional arguments, in order. */
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
/** The values of options: one for each, by its key. */
export type OptionValues<O extends Options> = string extends keyof O
  ? unknown
  : { readonly [K in keyof O]: ValueOf<O[K]> };

/** What a handler receives: one value per positional argument and option. */
export type Values<A extends Positionals, O extends Options> = ValuesOf<A> & OptionValues<O>;

/** One command as data; `registry.ts` has its words and one-line description. Only `adapter.ts` translates it for the command-line parser. */
export interface Command<A extends Positionals = Positionals, O extends Options = Options> {
  args?: A;
  options?: O;
  /** Command lines, each with a description; at least one. */
  examples: readonly [readonly [string, string], ...(readonly [string, string])[]];
  /** Whether it serves facts to the user's language model for as long as it runs. */
  isForAssistants?: true;
  /** Runs the command. Throws a `UserError` for a failure that the user can fix; anything else thrown is a bug. */
  handler(context: Context, values: Values<A, O>): Promise<void>;
}

/** A command whose argument and option types are not known statically, as the adapter handles it. */
export type AnyCommand = Omit<Command, "handler"> & { handler(context: Context, values: never): Promise<void> };

/** Returns its argument; exists so that the types of a handler's values are inferred from `args` and `options`. */
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

/** Options of commands that work on a project. */
export const projectOptions = {
  project: { type: "text", describe: "The project's slug; unless given, that of .kite/config.json" },
} as const satisfies Options;

/** Options of commands that list a part at a time. */
export const pageOptions = {
  limit: { type: "integer", min: 1, max: 10_000, default: 50, describe: "How many to show" },
  cursor: { type: "text", describe: "Continue where the previous page ended" },
} as const satisfies Options;

/** The same, for lists that can also be printed as comma-separated values. */
export const csvPageOptions = {
  ...pageOptions,
  csv: { type: "flag", describe: "Print the whole list as CSV, ignoring --limit" },
} as const satisfies Options;

/** Options of lists that have an order. */
export const reverseOption = {
  reverse: { type: "flag", describe: "Reverse the order: newest or highest first" },
} as const satisfies Options;

/** For lists of records that recomputes replace. */
export const supersededOption = {
  superseded: { type: "flag", describe: "Also show records that recomputes replaced, if they are still kept" },
} as const satisfies Options;

/** For commands that show the past. */
export const pastOption = {
  type: "text",
  describe: "As of an instant: a date, a date-time, or how long ago, such as 30d",
} as const satisfies Options[string];

/** Options of commands that show a customer as of a past instant. */
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
  facts: { type: "flag", describe: "Show the facts alone: no language model is asked, and nothing is sent" },
  output: { type: "text", describe: "Also write to this file, which must not exist yet" },
  showContext: { type: "flag", describe: "Print exactly what would be sent, and send nothing" },
} as const satisfies Options;

/** The same, for commands about a customer. */
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
  noWait: { type: "flag", describe: "Do not wait for it to finish: return once it is queued" },
} as const satisfies Options;

export const forceOption = {
  force: { type: "flag", describe: "Proceed even if this strands data" },
} as const satisfies Options;

/** A command as help texts list it. Its options and handler are in its own file, which is loaded only when the command line may mean it. */
export interface ListedCommand {
  /** The words that select it: a noun and a verb, such as `customers inspect`, or one word. */
  path: string;
  /** Its positional arguments as help texts show them: `<customerId>`, `[from] [to]`; empty where there are none. */
  args: string;
  describe: string;
  load: () => Promise<AnyCommand>;
}

/** All commands, and the nouns that group them with their descriptions. */
export interface CommandRegistry {
  commands: readonly ListedCommand[];
  nouns: Readonly<Record<string, string>>;
}
