import {
  type AnyCommand,
  type ListedCommand,
  type Option,
  type Options,
  sharedOptions,
} from "../../src/cli/core/command.js";
import { optionName } from "../../src/cli/core/values.js";
import { tableOf } from "../../src/cli/output/markdown.js";
import { commands, nouns } from "../../src/cli/core/registry.js";

/** The command reference as Markdown: an overview, the shared options, and each command with its arguments, options and examples. */
export async function commandReference(): Promise<string> {
  const parts = [commandOverview(), "### Options of every command", optionTable(sharedOptions)];
  for (const { heading, about, listed } of groups()) {
    parts.push(`### ${heading}`, `${about}.`);
    for (const one of listed) parts.push(...section(one, await one.load()));
  }
  return parts.join("\n\n");
}

/** One row for each command of one word and for each noun with its verbs, as a Markdown table. */
function commandOverview(): string {
  const single = commands.filter(({ path }) => !path.includes(" "));
  const rows: [string, string][] = single.map(({ path, describe }) => [`svc ${path}`, describe]);
  for (const [noun, about] of Object.entries(nouns)) {
    const verbs = verbsOf(noun).map(({ path }) => path.slice(noun.length + 1));
    rows.push([`svc ${noun} ${verbs.join("\\|")}`, about]);
  }
  return tableOf(
    ["command", "what it does"],
    rows.map(([line, about]) => [`\`${line}\``, cell(about)]),
  );
}

interface Group {
  heading: string;
  about: string;
  listed: readonly ListedCommand[];
}

function groups(): Group[] {
  const withoutNoun = commands.filter(({ path }) => !Object.hasOwn(nouns, path.split(" ", 1)[0]!));
  return [
    { heading: "svc", about: "Commands for a project or its model as a whole", listed: withoutNoun },
    ...Object.entries(nouns).map(([noun, about]) => ({ heading: `svc ${noun}`, about, listed: verbsOf(noun) })),
  ];
}

function verbsOf(noun: string): ListedCommand[] {
  return commands.filter(({ path }) => path.startsWith(`${noun} `));
}

function section({ path, args, describe }: ListedCommand, command: AnyCommand): string[] {
  const rows = [
    ...Object.entries(command.args ?? {}).map(([name, positional]) => {
      const { describe: about, choices } = typeof positional === "string" ? { describe: positional } : positional;
      return [`\`${name}\``, cell(`${about}${among(choices)}`)];
    }),
    ...optionRows(command.options ?? {}),
  ];
  const width = Math.max(...command.examples.map(([line]) => line.length));
  const examples = command.examples.map(([line, about]) => `${line.padEnd(width)}  # ${about}`);
  return [
    `#### svc ${[path, args].join(" ").trim()}`,
    `${describe}.`,
    ...(rows.length === 0 ? [] : [tableOf(["argument or option", "meaning"], rows)]),
    ["```sh", ...examples, "```"].join("\n"),
  ];
}

function optionTable(options: Options): string {
  return tableOf(["option", "meaning"], optionRows(options));
}

function optionRows(options: Options): string[][] {
  return Object.entries(options).map(([key, option]) => {
    const short = option.alias === undefined ? "" : `\`-${option.alias}\`, `;
    return [`${short}\`--${optionName(key)}${valueOf(key, option)}\``, cell(`${option.describe}${notesOf(option)}`)];
  });
}

/** The placeholder of an option's value: `<days>`, `<test\|live>`; empty for a switch. */
function valueOf(key: string, option: Option): string {
  if (option.type === "flag") return "";
  if (option.type === "integer") return " <number>";
  if (option.type === "text" && option.choices !== undefined) return ` <${option.choices.join("\\|")}>`;
  return ` <${optionName(key).split("-").at(-1)}>`;
}

function notesOf(option: Option): string {
  if (option.type === "integer") {
    const initial = option.default === undefined ? "" : `; ${option.default} unless given`;
    return ` (${option.min} to ${option.max.toLocaleString("en-US")}${initial})`;
  }
  return option.type === "text" && option.required ? " (required)" : "";
}

function among(choices: readonly string[] | undefined): string {
  return choices === undefined ? "" : `: ${choices.join(", ")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
