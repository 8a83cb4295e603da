import {
  type AnyCommand,
  type CommandRegistry,
  defineCommand,
  type Option,
  type Options,
  sharedOptions,
} from "../core/command.js";
import { fromTemplate } from "../core/package.js";
import { optionName } from "../core/values.js";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export default defineCommand({
  args: { shell: { describe: "The shell", choices: SHELLS } },
  examples: [
    ["source <(svc completion bash)", "Add this line to ~/.bashrc to have it in every shell"],
    ["source <(svc completion zsh)", "Add this line to ~/.zshrc, after compinit"],
    ["svc completion fish > ~/.config/fish/completions/svc.fish", "Run once, and again after an update of svc"],
  ],
  async handler({ out, registry }, { shell }) {
    const script = scripts[shell as Shell](await places(registry));
    out.result({ document: { shell, script } }, () => script);
  },
});

interface Word {
  word: string;
  about: string;
}

/** How to complete a value: one of some words, a file, a directory, or not at all. */
type Value = readonly string[] | "file" | "directory" | "unknown";

interface CompletedOption {
  /** Without its hyphens. */
  name: string;
  alias?: string;
  about: string;
  /** Absent for a switch. */
  value?: Value;
}

/** A position on a command line: the words typed so far, and what can follow. */
interface CompletionPlace {
  /** `customers list`; empty at the beginning. */
  path: string;
  words: readonly Word[];
  options: readonly CompletedOption[];
  /** How to complete its arguments, in order. */
  args: readonly Value[];
}

/** All places, the empty command line first. Loads all commands. */
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
    args: Object.values(command?.args ?? {}).map((one) => (typeof one === "object" && one.choices) || "unknown"),
  };
}

const HELP: CompletedOption = { name: "help", alias: "h", about: "Show help" };
/** The option of `svc` itself. Some commands have an option of the same name, which takes a model version. */
const VERSION: CompletedOption = { name: "version", about: "Show version number" };

function wordsAfter({ commands, nouns }: CommandRegistry, path: string): Word[] {
  const before = path === "" ? "" : `${path} `;
  const all = [...commands.map((command) => [command.path, command.describe] as const), ...Object.entries(nouns)];
  return all
    .filter(([words]) => words.startsWith(before) && !words.slice(before.length).includes(" "))
    .map(([words, about]) => ({ word: words.slice(before.length), about }));
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

/** The known completions at each argument position of a place: further command words, or the choices of an argument. */
function offers({ words, args }: CompletionPlace): { position: number; words: readonly Word[] }[] {
  const [first = [], ...others] = args.map((value) =>
    typeof value === "object" ? value.map((word) => ({ word, about: "" })) : [],
  );
  return [[...words, ...first], ...others]
    .map((offered, position) => ({ position, words: offered }))
    .filter((offer) => offer.words.length > 0);
}

/** The options that take a value, as typed. An option name takes a value at every place or at none, so the shells need not know the place. */
export function namesWithValue(all: readonly CompletionPlace[]): string[] {
  const names = all.flatMap(({ options }) => options.filter(({ value }) => value !== undefined).flatMap(typed));
  return [...new Set(names)].sort();
}

/** An option as typed: `--yes`, `-y`. */
export function typed({ name, alias }: CompletedOption): string[] {
  return [`--${name}`, ...(alias === undefined ? [] : [`-${alias}`])];
}

/** How a shell's script selects a place and completes there. */
interface Completer {
  or: string;
  /** A branch with the given patterns. */
  branch: (patterns: readonly string[], does: string) => string;
  offer: (words: readonly Word[]) => string;
  values: (words: readonly string[]) => string;
  file: string;
  directory: string;
}

const BASH: Completer = {
  or: " | ",
  branch: (patterns, does) => `      ${patterns.join(" | ")}) ${does} ;;`,
  offer: (words) => `_svc_words "${words.map(({ word }) => word).join(" ")}"`,
  values: (words) => `_svc_words "${words.join(" ")}"`,
  file: "_svc_files -f",
  directory: "_svc_files -d",
};

const ZSH: Completer = {
  or: "|",
  branch: (patterns, does) => `      (${patterns.join("|")}) ${does} ;;`,
  offer: (words) =>
    `found=(${words.map(({ word, about }) => singleQuoted(about === "" ? word : `${word}:${about}`)).join(" ")})`,
  values: (words) => `compadd -- ${words.join(" ")}`,
  file: "_files",
  directory: "_files -/",
};

/** The scripts: for bash 3.2 and newer; for zsh 5.0 and newer, as a function in `fpath` or for `source`; for fish 3.0 and newer. */
const scripts = {
  bash: (places: readonly CompletionPlace[]) => fromTemplate("completion/bash.txt", branches(places, BASH)),
  zsh: (places: readonly CompletionPlace[]) => fromTemplate("completion/zsh.txt", branches(places, ZSH)),
  fish: (places: readonly CompletionPlace[]) =>
    fromTemplate("completion/fish.txt", {
      NAMES: namesWithValue(places).join(" "),
      PATHS: pathsOf(places, "'").join(" "),
      LINES: places.flatMap(fishLines).join("\n"),
    }),
};

function branches(places: readonly CompletionPlace[], { or, branch, offer, values, file, directory }: Completer) {
  const ofValue = (path: string, option: CompletedOption): string[] => {
    const { value } = option;
    if (value === undefined || value === "unknown") return [];
    const does = value === "file" ? file : value === "directory" ? directory : values(value);
    const patterns = typed(option).map((name) => `"${path} ${name}"`);
    return [branch(patterns, does)];
  };
  const asWords = (option: CompletedOption) => typed(option).map((word) => ({ word, about: option.about }));
  const ofOptions = ({ path, options }: CompletionPlace) => branch([`"${path}"`], offer(options.flatMap(asWords)));
  const ofWords = (place: CompletionPlace) =>
    offers(place).map(({ position, words }) => branch([`"${place.path} ${position}"`], offer(words)));
  return {
    NAMES: namesWithValue(places).join(or),
    PATHS: pathsOf(places, '"').join(or),
    VALUES: places.flatMap(({ path, options }) => options.flatMap((option) => ofValue(path, option))).join("\n"),
    OPTIONS: places.map(ofOptions).join("\n"),
    WORDS: places.flatMap(ofWords).join("\n"),
  };
}

/** The quoted paths of all places but the first. */
function pathsOf(places: readonly CompletionPlace[], quote: string): string[] {
  return places.slice(1).map(({ path }) => quote + path + quote);
}

/** A word in single quotes, valid in all three shells. */
function singleQuoted(text: string): string {
  return `'${text.replaceAll("\\", "").replaceAll("'", "’")}'`;
}

function fishLines(place: CompletionPlace): string[] {
  const { path, options } = place;
  const at = (position: number | "*") => `-n ${singleQuoted(`__svc_at "${path}/${position}"`)}`;
  return [
    ...offers(place).flatMap(({ position, words }) =>
      words.map(({ word, about }) => {
        const described = about === "" ? "" : ` -d ${singleQuoted(about)}`;
        return `complete -c svc ${at(position)} -a ${word}${described}`;
      }),
    ),
    ...options.map((option) => `complete -c svc ${at("*")} ${optionWords(option)} -d ${singleQuoted(option.about)}`),
  ];
}

function optionWords({ name, alias, value }: CompletedOption): string {
  const names = [`-l ${name}`, ...(alias === undefined ? [] : [`-s ${alias}`])].join(" ");
  if (value === undefined) return names;
  if (value === "file") return `${names} -r -F`;
  if (value === "directory") return `${names} -x -a '(__fish_complete_directories)'`;
  return value === "unknown" ? `${names} -x` : `${names} -x -a ${singleQuoted(value.join(" "))}`;
}
