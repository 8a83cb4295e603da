// The only file that knows the command-line parser, yargs. It turns commands, which are data, into yargs builders, and the arguments that
// yargs parsed into values; no handler runs inside yargs.
import yargs, { type Argv } from "yargs";

import { type AnyCommand, type ListedCommand, type Option, type Options, sharedOptions } from "./command.js";
import { UsageError } from "./errors.js";
import { optionName, readValues } from "./values.js";
import { candidates, commands, nouns } from "./registry.js";
import { nearest } from "../../model/snapshot/suggestion.js";

const SHARED = "Shared options:";

export type Parsed =
  | { kind: "run"; command: AnyCommand; values: Readonly<Record<string, unknown>> }
  | { kind: "print"; text: string }
  /** A command line that ends before it names a command; `text` is the help for the possible continuations. */
  | { kind: "incomplete"; text: string };

export interface ParseOptions {
  /** The width of help texts, in columns. */
  width: number;
  version: string;
}

/** The command or the noun that yargs matched. */
interface Matched {
  listed?: ListedCommand;
  noun?: string;
}

/** The commands that the command line may mean, as their files define them. For the others, help texts need only the registry's entries. */
type Loaded = ReadonlyMap<ListedCommand, AnyCommand>;

type RawArguments = Record<string, unknown> & { _: (string | number)[] };

/** Thrown by the handlers that yargs calls, with the checked arguments: after one that returns, yargs would render the command's help text. */
class Checked extends Error {
  constructor(readonly raw: RawArguments) {
    super("the arguments of a command are checked");
  }
}

/** Parses a command line. @throws {UsageError} if it is invalid. */
export async function parseCommandLine(given: readonly string[], options: ParseOptions): Promise<Parsed> {
  const { argv, restore } = literals(given);
  const loaded: Loaded = new Map(
    await Promise.all(candidates(argv).map(async (listed) => [listed, await listed.load()] as const)),
  );
  const matched: Matched = {};
  const parser = describe(loaded, matched, options);
  let printed = "";
  let parseError: unknown;
  let raw: RawArguments;
  try {
    raw = parser.parseSync([...argv], {}, (error, _arguments, output) => {
      parseError = error;
      printed = output;
    });
  } catch (error) {
    if (!(error instanceof Checked)) throw error;
    raw = error.raw;
  }
  restore(raw);
  const { listed } = matched;
  const command = listed && loaded.get(listed);
  if (parseError) throw explain(parseError, matched, command);
  if (printed !== "") return { kind: "print", text: printed };
  if (!listed || !command) return notACommand(raw, matched, options);

  refuseUnknown(raw, command.options ?? {}, Object.keys(command.args ?? {}), matched);
  const extra = raw._[listed.path.split(" ").length];
  if (extra !== undefined) throw extraArgument(String(extra), listed);
  return { kind: "run", command, values: readValues(command, raw) };
}

/** Arguments after `--` are taken literally. yargs loses them for commands of two words, so it gets placeholders in their place. */
function literals(given: readonly string[]): { argv: string[]; restore: (raw: RawArguments) => void } {
  const end = given.indexOf("--");
  if (end < 0) return { argv: [...given], restore: () => undefined };
  const words = new Map(given.slice(end + 1).map((word, index) => [`\0${index}`, word]));
  const restored = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(restored);
    return typeof value === "string" ? (words.get(value) ?? value) : value;
  };
  return {
    argv: [...given.slice(0, end), ...words.keys()],
    restore: (raw) =>
      Object.assign(raw, Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, restored(value)]))),
  };
}

function describe(loaded: Loaded, matched: Matched, { width, version }: ParseOptions): Argv {
  const parser: Argv = yargs()
    .scriptName("svc")
    .usage("$0 <command>: events in, customers' states out")
    .parserConfiguration({
      // An option's type decides what is a number; identifiers such as 007 stay text.
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "boolean-negation": false,
      "camel-case-expansion": false,
      "dot-notation": false,
      "duplicate-arguments-array": true,
      "greedy-arrays": false,
      "strip-aliased": true,
    })
    .detectLocale(false)
    .exitProcess(false)
    .showHelpOnFail(false)
    .wrap(width)
    .version(version)
    .alias("help", "h")
    .group(["help", "version"], SHARED)
    .example("svc init", "Begin: a project, and a starter for its model")
    .epilogue("svc <command> --help shows a command's options and examples");
  const single = commands.filter(({ path }) => !path.includes(" "));
  withCommands(withOptions(parser, sharedOptions, SHARED), single, loaded, matched);
  for (const [noun, about] of Object.entries(nouns)) {
    const verbs = (inner: Argv) => withCommands(inner, verbsOf(noun), loaded, matched);
    parser.command(noun, about, verbs, () => void (matched.noun = noun));
  }
  return parser;
}

function verbsOf(word: string): ListedCommand[] {
  const words = word.split(" ").length;
  return commands.filter(({ path }) => path.startsWith(`${word} `) && path.split(" ").length === words + 1);
}

/** Adds commands by their last word: yargs has already consumed the words before it. */
function withCommands(parser: Argv, listed: readonly ListedCommand[], loaded: Loaded, matched: Matched): Argv {
  return listed.reduce((next, one) => withCommand(next, one, loaded, matched), parser);
}

function withCommand(parser: Argv, listed: ListedCommand, loaded: Loaded, matched: Matched): Argv {
  const { path, args, describe: about } = listed;
  return parser.command(
    [path.split(" ").at(-1), args].join(" ").trim(),
    about,
    (inner) => {
      // yargs checks the number of arguments before it calls the handler; the error message needs the command to say what is missing.
      matched.listed = listed;
      const command = loaded.get(listed);
      if (command === undefined) return inner;
      const verbs = verbsOf(path);
      let built = withCommands(inner, verbs, loaded, matched).epilogue("");
      // Where `--version` is an option of the command, it must not print the version of svc.
      if (command.options?.["version"] !== undefined) built = built.version(false);
      for (const [name, positional] of Object.entries(command.args ?? {})) {
        const { describe, choices } = typeof positional === "string" ? { describe: positional } : positional;
        const among = choices === undefined ? "" : `: ${choices.join(", ")}`;
        built = built.positional(name, { type: "string", describe: `${describe}${among}` });
      }
      built = withOptions(built, command.options ?? {}, "Options:", verbs.length === 0);
      for (const [line, about] of command.examples) built = built.example(line, about);
      return built;
    },
    (raw) => {
      throw new Checked(raw);
    },
  );
}

/** @param group the heading under which help texts list the options */
function withOptions(parser: Argv, options: Options, group: string, global = true): Argv {
  return Object.entries(options).reduce(
    (next, [key, option]) => next.option(optionName(key), { ...yargsOption(option), group, global }),
    parser,
  );
}

const YARGS_TYPES = { flag: "boolean", text: "string", integer: "string", list: "array" } as const;

function yargsOption(option: Option) {
  const { type, describe, alias } = option;
  const otherwise = type === "integer" ? option.default : undefined;
  return {
    type: YARGS_TYPES[type],
    describe,
    requiresArg: type !== "flag",
    ...(alias === undefined ? {} : { alias }),
    ...(type === "list" ? { string: true } : {}),
    ...(type === "text" && option.required ? { demandOption: true } : {}),
    ...(otherwise === undefined ? {} : { defaultDescription: String(otherwise) }),
  };
}

async function help(words: readonly string[], options: ParseOptions): Promise<string> {
  let text = "";
  await describe(new Map(), {}, options).parseAsync([...words, "--help"], {}, (_error, _arguments, output) => {
    text = output;
  });
  return text;
}

async function notACommand(raw: RawArguments, matched: Matched, options: ParseOptions): Promise<Parsed> {
  const words = raw._.map(String);
  const known = commands.map(({ path }) => path);
  if (words.length === 0 || (words.length === 1 && matched.noun !== undefined)) {
    refuseUnknown(raw, {}, [], matched);
    return { kind: "incomplete", text: await help(words, options) };
  }
  const starts = matched.noun === undefined ? [...Object.keys(nouns), ...known] : known;
  const typed = words.slice(0, matched.noun === undefined ? 1 : 2).join(" ");
  // Noun and verb may be swapped.
  const swapped = [words[1], words[0]].join(" ");
  // The noun may be left out, where only one noun has the verb.
  const alone = known.filter((path) => path.endsWith(` ${typed}`));
  const meant = known.includes(swapped)
    ? swapped
    : (nearest(words.slice(0, 2).join(" "), known) ?? (alone.length === 1 ? alone[0] : nearest(typed, starts)));
  const message = `there is no command "svc ${typed}"${meant === undefined ? "" : `; did you mean "svc ${meant}"?`}`;
  throw new UsageError(message, seeHelp(matched));
}

function extraArgument(extra: string, listed: ListedCommand): UsageError {
  const words = `${listed.path} `;
  const verbs = verbsOf(listed.path).map(({ path }) => path.slice(words.length));
  const meant = nearest(extra, verbs);
  const hint = meant === undefined ? "" : `; did you mean "svc ${words}${meant}"?`;
  return new UsageError(`the argument ${JSON.stringify(extra)} is one too many${hint}`, seeHelp({ listed }));
}

/** Our own check instead of yargs' strict mode, which does not distinguish options from arguments, and suggests only commands. */
function refuseUnknown(raw: RawArguments, options: Options, positionals: readonly string[], matched: Matched): void {
  const all: Options = { ...sharedOptions, ...options };
  const names = [...Object.keys(all).map(optionName), "help", "version"];
  const known = new Set(["_", "$0", "h", ...names, ...positionals, ...Object.values(all).map(({ alias }) => alias)]);
  const unknown = Object.keys(raw).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const dashed = (name: string) => (name.length === 1 ? `-${name}` : `--${name}`);
  const meant = nearest(unknown, names);
  const hint = meant === undefined ? "" : `; did you mean ${dashed(meant)}?`;
  throw new UsageError(`there is no option ${dashed(unknown)}${hint}`, seeHelp(matched));
}

function explain(error: unknown, matched: Matched, command: AnyCommand | undefined): unknown {
  if (!(error instanceof Error) || error.name !== "YError") return error;
  const { message } = error;
  const missing = /^Missing required arguments?: (.*)$/.exec(message)?.[1]?.replace(/[^, ]+/g, "--$&");
  const given = /^Not enough non-option arguments: got (\d+)/.exec(message)?.[1];
  const names = Object.keys(command?.args ?? {}).slice(Number(given ?? 0));
  const missingNames = missing ?? (given === undefined ? undefined : names.map((name) => `<${name}>`).join(", "));
  const empty = /^Not enough arguments following: (.*)$/.exec(message)?.[1];
  const explanation =
    missingNames !== undefined ? `missing ${missingNames}` : empty !== undefined ? `--${empty} needs a value` : message;
  return new UsageError(explanation, seeHelp(matched));
}

function seeHelp({ listed, noun }: Matched): string {
  return `see \`svc ${[listed?.path ?? noun, "--help"].filter((word) => word !== undefined).join(" ")}\``;
}
