import type { CompletedOption, CompletionPlace } from "./words.js";
import { namesWithValue, offers, singleQuoted, typed } from "./words.js";

/** A script for zsh, from 5.0 on: a function of `fpath`, or to be read by `source`. */
export function zshScript(places: readonly CompletionPlace[]): string {
  return `#compdef svc
# Completes command lines of svc in zsh. To have it in every shell, put these lines into ~/.zshrc:
#   autoload -Uz compinit && compinit
#   source <(svc completion zsh)
_svc() {
  local at="" option="" place word
  local -a found
  integer args=0 i
  for ((i = 2; i < CURRENT; i++)); do
    word=\${(Q)words[i]}
    if [[ -n $option ]]; then option=""; continue; fi
    case $word in
      (${namesWithValue(places).join("|")}) option=$word ;;
      (-*) ;;
      (*)
        place="\${at:+$at }$word"
        case $place in
          (${places
            .filter(({ path }) => path !== "")
            .map(({ path }) => `"${path}"`)
            .join("|")}) at=$place ;;
          (*) ((args += 1)) ;;
        esac
        ;;
    esac
  done
  if [[ -z $option && $PREFIX == --*=* ]]; then
    option=\${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $option ]]; then
    case "$at $option" in
${places.flatMap(valuesAt).join("\n")}
    esac
  elif [[ $PREFIX == -* ]]; then
    case $at in
${places.map(({ path, options }) => `      ("${path}") found=(${options.flatMap(described).join(" ")}) ;;`).join("\n")}
    esac
    _describe -o option found
  else
    case "$at $args" in
${places.flatMap(wordsAt).join("\n")}
    esac
    (( $#found )) && _describe word found
  fi
}

if [[ \${funcstack[1]} == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`;
}

function described(option: CompletedOption): string[] {
  return typed(option).map((name) => singleQuoted(`${name}:${option.about}`));
}

function valuesAt({ path, options }: CompletionPlace): string[] {
  return options.flatMap((option) => {
    const { value } = option;
    if (value === undefined || value === "unknown") return [];
    const pattern = typed(option).map((name) => `"${path} ${name}"`);
    const does = value === "file" ? "_files" : value === "directory" ? "_files -/" : `compadd -- ${value.join(" ")}`;
    return [`      (${pattern.join("|")}) ${does} ;;`];
  });
}

function wordsAt(place: CompletionPlace): string[] {
  return offers(place).map(({ position, words }) => {
    const shown = words.map(({ word, about }) => singleQuoted(about === "" ? word : `${word}:${about}`));
    return `      ("${place.path} ${position}") found=(${shown.join(" ")}) ;;`;
  });
}
