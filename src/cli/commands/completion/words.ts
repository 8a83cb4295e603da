import type { CommandRegistry } from "../../core/command.js";
import { type AnyCommand, type Option, type Options, type Positional, sharedOptions } from "../../core/command.js";
import { optionName } from "../../core/values.js";

/** A word with what it means. */
export interface Word {
  word: string;
  about: string;
}

/** What completes a value: one of few words, a file, a directory, or nothing that is known here. */
export type Value = readonly string[] | "file" | "directory" | "unknown";

export interface CompletedOption {
  /** Without its hyphens. */
  name: string;
  /** One letter. */
  alias?: string;
  about: string;
  /** Absent for a switch. */
  value?: Value;
}

/** A place on a command line: the words that were typed so far, and what may follow. */
export interface CompletionPlace {
  /** `customers list`; empty at the beginning. */
  path: string;
  words: readonly Word[];
  options: readonly CompletedOption[];
  /** What completes its arguments, in their order. */
  args: readonly Value[];
}

/** Every place, that at the beginning first. Loads all commands. */
export async function places(registry: CommandRegistry): Promise<readonly CompletionPlace[]> {
  const { commands, nouns } = registry;
  const loaded = new Map(await Promise.all(commands.map(async ({ path, load }) => [path, await load()] as const)));
  const paths = new Set(["", ...Object.keys(nouns), ...loaded.keys()]);
  return [...paths].map((path) => placeAt(registry, path, loaded.get(path)));
}

function placeAt(registry: CommandRegistry, path: string, command: AnyCommand | undefined): CompletionPlace {
  return {
    path,
    words: wordsAfter(registry, path),
    options: [
      ...optionsOf(command?.options ?? {}),
      ...optionsOf(sharedOptions),
      HELP,
      ...(path === "" ? [VERSION] : []),
    ],
    args: Object.values(command?.args ?? {}).map(argumentOf),
  };
}

const HELP: CompletedOption = { name: "help", alias: "h", about: "Show help" };
/** That of `svc`. Some commands have an option of this name, which takes the version of a model. */
const VERSION: CompletedOption = { name: "version", about: "Show version number" };

function wordsAfter({ commands, nouns }: CommandRegistry, path: string): Word[] {
  const depth = path === "" ? 0 : path.split(" ").length;
  const all = [
    ...commands.map((command) => ({ words: command.path.split(" "), about: command.describe })),
    ...Object.entries(nouns).map(([noun, about]) => ({ words: [noun], about })),
  ];
  return all
    .filter(({ words }) => words.length === depth + 1 && words.slice(0, depth).join(" ") === path)
    .map(({ words, about }) => ({ word: words[depth]!, about }));
}

function optionsOf(options: Options): CompletedOption[] {
  return Object.entries(options).map(([key, option]) => ({
    name: optionName(key),
    ...(option.alias === undefined ? {} : { alias: option.alias }),
    about: option.describe,
    ...(option.type === "flag" ? {} : { value: valueOf(key, option) }),
  }));
}

function valueOf(key: string, option: Option): Value {
  if (option.type === "text" && option.choices) return option.choices;
  if (key === "directory") return "directory";
  return key === "output" ? "file" : "unknown";
}

function argumentOf(positional: Positional): Value {
  return (typeof positional === "object" ? positional.choices : undefined) ?? "unknown";
}

/** What may stand at a place after so many arguments, wherever something is known: words that go on, or the choices of an argument. */
export function offers({ words, args }: CompletionPlace): { position: number; words: readonly Word[] }[] {
  const positions = [...new Set([0, ...args.keys()])];
  return positions
    .map((position) => {
      const value = args[position];
      const choices = typeof value === "object" ? value.map((word) => ({ word, about: "" })) : [];
      return { position, words: [...(position === 0 ? words : []), ...choices] };
    })
    .filter((offer) => offer.words.length > 0);
}

/** The options that take a value, as they are typed. A name takes one at every place or at none, so the shells need not know where. */
export function namesWithValue(all: readonly CompletionPlace[]): string[] {
  const names = all.flatMap(({ options }) => options.filter(({ value }) => value !== undefined).flatMap(typed));
  return [...new Set(names)].sort();
}

/** An option as it is typed: `--yes`, `-y`. */
export function typed({ name, alias }: CompletedOption): string[] {
  return [`--${name}`, ...(alias === undefined ? [] : [`-${alias}`])];
}
