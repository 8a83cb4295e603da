// The only file that knows the parser of command lines. It turns commands, which are data, into yargs' builders, and what yargs
// found into values; nothing runs inside yargs.
import yargs from "yargs";
import type { Argv } from "yargs";

import type { AnyCommand, Option, Options } from "./command.js";
import { UsageError } from "./errors.js";
import { optionName } from "./names.js";
import { sharedOptions } from "./options.js";
import { candidates, commands, nouns } from "./registry.js";
import { nearest } from "../snapshot/nearest.js";
import { readValues } from "./values.js";

export type Parsed =
  | { kind: "run"; command: AnyCommand; values: Readonly<Record<string, unknown>> }
  /** Help or the version was asked for. */
  | { kind: "print"; text: string }
  /** A command line that stops before it names a command; `text` is the help for how it could go on. */
  | { kind: "incomplete"; text: string };

export interface ParseOptions {
  /** The width of help texts, in columns. */
  width: number;
  /** The version that `--version` prints. */
  version: string;
}

/** What yargs found: the command or the noun it went into, and the arguments. */
interface Found {
  command?: AnyCommand;
  path?: string;
  noun?: string;
}

type RawArguments = Record<string, unknown> & { _: (string | number)[] };

/**
 * Understands a command line.
 *
 * @throws {UsageError} where it cannot.
 */
export async function parse(argv: readonly string[], options: ParseOptions): Promise<Parsed> {
  const found: Found = {};
  const parser = describe(await candidates(argv), found, options);
  let printed = "";
  let complaint: unknown;
  const raw: RawArguments = await parser.parseAsync([...argv], {}, (error, _arguments, output) => {
    complaint = error;
    printed = output;
  });
  if (complaint) throw explain(complaint, found);
  if (printed !== "") return { kind: "print", text: printed };
  if (!found.command) return notACommand(raw, found, options);

  refuseUnknown(raw, found.command.options ?? {}, Object.keys(found.command.args ?? {}), found);
  const extra = raw._[found.path?.split(" ").length ?? 0];
  if (extra !== undefined) throw oneTooMany(String(extra), found);
  return { kind: "run", command: found.command, values: readValues(found.command, raw) };
}

function describe(entries: [string, AnyCommand][], found: Found, { width, version }: ParseOptions): Argv {
  let parser: Argv = yargs()
    .scriptName("svc")
    .usage("$0 <command>: events in, customers' states out")
    .parserConfiguration({
      // What is a number is said by an option's type; identifiers such as 007 stay as they are.
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
    .epilogue("svc <command> --help shows a command's options and an example");
  parser = withOptions(parser, sharedOptions);
  for (const [path, command] of entries) {
    if (path.includes(" ")) continue;
    const verbs = entries.filter(([other]) => other.startsWith(`${path} `));
    parser = withCommand(parser, path, path, command, found, verbs);
  }
  for (const [noun, about] of Object.entries(nouns)) {
    const verbs = entries.filter(([path]) => path.startsWith(`${noun} `));
    parser = parser.command(
      noun,
      about,
      (inner) =>
        verbs.reduce(
          (next, [path, command]) => withCommand(next, path.slice(noun.length + 1), path, command, found),
          inner,
        ),
      () => {
        found.noun = noun;
      },
    );
  }
  return parser;
}

/** @param verbs commands that begin with the words of this one, and have options of their own */
function withCommand(
  parser: Argv,
  words: string,
  path: string,
  command: AnyCommand,
  found: Found,
  verbs: readonly [string, AnyCommand][] = [],
): Argv {
  const positionals = Object.entries(command.args ?? {});
  return parser.command(
    [words, ...positionals.map(([name]) => `<${name}>`)].join(" "),
    command.describe,
    (inner) => {
      // yargs checks the number of arguments before it calls the handler; a complaint needs to know what is missing.
      found.command = command;
      found.path = path;
      let built = withOptions(inner, command.options ?? {}, verbs.length === 0).epilogue("");
      for (const [verb, other] of verbs) built = withCommand(built, verb.slice(path.length + 1), verb, other, found);
      for (const [name, about] of positionals) built = built.positional(name, { type: "string", describe: about });
      for (const [line, about] of command.examples) built = built.example(line, about);
      return built;
    },
    () => undefined,
  );
}

function withOptions(parser: Argv, options: Options, global = true): Argv {
  return Object.entries(options).reduce(
    (next, [key, option]) => next.option(optionName(key), { ...yargsOption(option), global }),
    parser,
  );
}

function yargsOption(option: Option) {
  const flag = option.type === "flag";
  return {
    describe: option.describe,
    ...(option.alias === undefined ? {} : { alias: option.alias }),
    ...(flag
      ? { type: "boolean" as const }
      : { type: option.type === "list" ? ("array" as const) : ("string" as const), requiresArg: true }),
    ...(option.type === "list" ? { string: true } : {}),
    ...(option.type === "text" && option.required ? { demandOption: true } : {}),
    ...(option.type === "integer" && option.default !== undefined
      ? { defaultDescription: String(option.default) }
      : {}),
  };
}

/** The help text at a place that is not a command. */
async function help(words: readonly string[], options: ParseOptions): Promise<string> {
  let text = "";
  await describe(await candidates(words), {}, options).parseAsync(
    [...words, "--help"],
    {},
    (_error, _arguments, output) => {
      text = output;
    },
  );
  return text;
}

async function notACommand(raw: RawArguments, found: Found, options: ParseOptions): Promise<Parsed> {
  const words = raw._.map(String);
  const known = Object.keys(commands);
  if (words.length === 0 || (words.length === 1 && found.noun !== undefined)) {
    refuseUnknown(raw, {}, [], found);
    return { kind: "incomplete", text: await help(words, options) };
  }
  const starts = found.noun === undefined ? [...Object.keys(nouns), ...known] : known;
  const said = words.slice(0, found.noun === undefined ? 1 : 2).join(" ");
  // Somebody may also turn noun and verb around.
  const turned = [words[1], words[0]].join(" ");
  const meant = known.includes(turned)
    ? turned
    : (nearest(words.slice(0, 2).join(" "), known) ?? nearest(said, starts));
  throw new UsageError(
    `there is no command "svc ${said}"${meant === undefined ? "" : `; did you mean "svc ${meant}"?`}`,
    seeHelp(found),
  );
}

function oneTooMany(extra: string, found: Found): UsageError {
  const words = `${found.path} `;
  const verbs = Object.keys(commands).filter((path) => path.startsWith(words));
  const meant = nearest(
    extra,
    verbs.map((path) => path.slice(words.length)),
  );
  const hint = meant === undefined ? "" : `; did you mean "svc ${words}${meant}"?`;
  return new UsageError(`the argument ${JSON.stringify(extra)} is one too many${hint}`, seeHelp(found));
}

/** Our own check instead of yargs' strict mode: that one does not tell options from arguments, and suggests commands only. */
function refuseUnknown(raw: RawArguments, options: Options, positionals: readonly string[], found: Found): void {
  const all: Options = { ...sharedOptions, ...options };
  const names = [...Object.keys(all).map(optionName), "help", "version"];
  const known = new Set(["_", "$0", "h", ...names, ...positionals, ...Object.values(all).map(({ alias }) => alias)]);
  const unknown = Object.keys(raw).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const dashed = (name: string) => (name.length === 1 ? `-${name}` : `--${name}`);
  const meant = nearest(unknown, names);
  throw new UsageError(
    `there is no option ${dashed(unknown)}${meant === undefined ? "" : `; did you mean ${dashed(meant)}?`}`,
    seeHelp(found),
  );
}

/** yargs' complaints in our words. */
function explain(error: unknown, found: Found): unknown {
  if (!(error instanceof Error) || error.name !== "YError") return error;
  const missing = /^Missing required arguments?: (.*)$/.exec(error.message)?.[1];
  if (missing !== undefined) return new UsageError(`missing ${missing.replace(/[^, ]+/g, "--$&")}`, seeHelp(found));
  const given = /^Not enough non-option arguments: got (\d+)/.exec(error.message)?.[1];
  if (given !== undefined) {
    const names = Object.keys(found.command?.args ?? {}).slice(Number(given));
    return new UsageError(`missing ${names.map((name) => `<${name}>`).join(", ")}`, seeHelp(found));
  }
  const empty = /^Not enough arguments following: (.*)$/.exec(error.message)?.[1];
  if (empty !== undefined) return new UsageError(`--${empty} needs a value`, seeHelp(found));
  return new UsageError(error.message, seeHelp(found));
}

function seeHelp({ path, noun }: Found): string {
  return `see \`svc ${[path ?? noun, "--help"].filter((word) => word !== undefined).join(" ")}\``;
}
