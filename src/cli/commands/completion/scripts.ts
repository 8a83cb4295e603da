import { fromTemplate } from "../../core/package.js";
import { type CompletedOption, type CompletionPlace, namesWithValue, offers, typed, type Word } from "./words.js";

/** How a shell's script selects a place, and completes what stands there. */
interface Completer {
  /** Between alternatives of a pattern. */
  or: string;
  /** A branch, whose pattern these are. */
  branch: (patterns: readonly string[], does: string) => string;
  /** Offers words with what they mean. */
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
  offer: (words) => `found=(${words.map(describedWord).join(" ")})`,
  values: (words) => `compadd -- ${words.join(" ")}`,
  file: "_files",
  directory: "_files -/",
};

/** The scripts for bash, from 3.2 on; for zsh, from 5.0 on, a function of `fpath`, or to be read by `source`; for fish, from 3.0 on. */
export const scripts = {
  bash: (places: readonly CompletionPlace[]) => fromTemplate("completion/bash.txt", branches(places, BASH)),
  zsh: (places: readonly CompletionPlace[]) => fromTemplate("completion/zsh.txt", branches(places, ZSH)),
  fish: (places: readonly CompletionPlace[]) =>
    fromTemplate("completion/fish.txt", {
      NAMES: namesWithValue(places).join(" "),
      PATHS: pathsOf(places).map(singleQuoted).join(" "),
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
    PATHS: pathsOf(places)
      .map((path) => `"${path}"`)
      .join(or),
    VALUES: places.flatMap(({ path, options }) => options.flatMap((option) => ofValue(path, option))).join("\n"),
    OPTIONS: places.map(ofOptions).join("\n"),
    WORDS: places.flatMap(ofWords).join("\n"),
  };
}

/** The paths of all places but the first. */
function pathsOf(places: readonly CompletionPlace[]): string[] {
  return places.map(({ path }) => path).filter((path) => path !== "");
}

function describedWord({ word, about }: Word): string {
  return singleQuoted(about === "" ? word : `${word}:${about}`);
}

/** A word in single quotes, as all three shells read it. */
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
