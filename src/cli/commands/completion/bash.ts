import type { CompletionPlace } from "./words.js";
import { namesWithValue, offers, typed } from "./words.js";

/** A script for bash, from 3.2 on. */
export function bashScript(places: readonly CompletionPlace[]): string {
  return `# Completes command lines of svc in bash. To have it in every shell, put this line into ~/.bashrc:
#   source <(svc completion bash)
_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at="" option="" place args=0 i word
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # bash takes --env=test apart at its sign.
    if [[ $word == "=" ]]; then continue; fi
    if [[ -n $option ]]; then option=""; continue; fi
    case $word in
      ${namesWithValue(places).join(" | ")}) option=$word ;;
      -*) ;;
      *)
        place=\${at:+$at }$word
        case $place in
          ${places
            .filter(({ path }) => path !== "")
            .map(({ path }) => `"${path}"`)
            .join(" | ")}) at=$place ;;
          *) ((args += 1)) ;;
        esac
        ;;
    esac
  done
  if [[ $cur == "=" ]]; then cur=""; fi
  if [[ -n $option ]]; then
    case "$at $option" in
${places.flatMap(valuesAt).join("\n")}
    esac
  elif [[ $cur == -* ]]; then
    case $at in
${places.map(({ path, options }) => `      "${path}") _svc_words "${options.flatMap(typed).join(" ")}" ;;`).join("\n")}
    esac
  else
    case "$at $args" in
${places.flatMap(wordsAt).join("\n")}
    esac
  fi
}

_svc_words() {
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$cur")
}

_svc_files() {
  compopt -o filenames 2>/dev/null
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$1" -- "$cur")
}

complete -F _svc svc
`;
}

function valuesAt({ path, options }: CompletionPlace): string[] {
  return options.flatMap((option) => {
    const { value } = option;
    if (value === undefined || value === "unknown") return [];
    const pattern = typed(option).map((name) => `"${path} ${name}"`);
    const does =
      value === "file" ? "_svc_files -f" : value === "directory" ? "_svc_files -d" : `_svc_words "${value.join(" ")}"`;
    return [`      ${pattern.join(" | ")}) ${does} ;;`];
  });
}

function wordsAt(place: CompletionPlace): string[] {
  return offers(place).map(
    ({ position, words }) =>
      `      "${place.path} ${position}") _svc_words "${words.map(({ word }) => word).join(" ")}" ;;`,
  );
}
