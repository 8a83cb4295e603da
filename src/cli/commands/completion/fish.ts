import type { CompletedOption, CompletionPlace } from "./words.js";
import { namesWithValue, offers, singleQuoted } from "./words.js";

/** A script for fish, from 3.0 on. */
export function fishScript(places: readonly CompletionPlace[]): string {
  return `# Completes command lines of svc in fish. To have it in every shell:
#   svc completion fish > ~/.config/fish/completions/svc.fish

# Prints the words of the command that were typed so far, and how many arguments came after them.
function __svc_place
    set -l at
    set -l option
    set -l arguments 0
    for word in (commandline -opc)[2..-1]
        if test -n "$option"
            set option
            continue
        end
        switch $word
            case ${namesWithValue(places).join(" ")}
                set option $word
            case '-*'
            case '*'
                set -l place (string trim -- "$at $word")
                if contains -- $place ${places
                  .filter(({ path }) => path !== "")
                  .map(({ path }) => singleQuoted(path))
                  .join(" ")}
                    set at $place
                else
                    set arguments (math $arguments + 1)
                end
        end
    end
    echo "$at/$arguments"
end

function __svc_at
    string match --quiet -- "$argv[1]" (__svc_place)
end

complete -c svc -f
${places.flatMap(linesAt).join("\n")}
`;
}

function linesAt(place: CompletionPlace): string[] {
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
