import { readFile } from "node:fs/promises";
import path from "node:path";

import type { Field, Snapshot } from "../../model/snapshot/types.js";
import { defineCommand, projectOptions } from "../core/command.js";
import { failure, type UserError } from "../core/errors.js";
import { fromTemplate } from "../core/package.js";
import { printable, quoted, shellWord } from "../../words/text.js";

/** The beginning of every generated file, by which a file is recognized as replaceable. */
const HEADER = "// Events and traits that the service takes";

const NOT_STRICT = "\n// The model is not strict: what is not declared is taken as well, and counted as a violation.\n";

export default defineCommand({
  options: {
    ...projectOptions,
    output: { type: "text", describe: "The file to write; only one that svc types wrote is replaced" },
  },
  examples: [
    ["svc types --output src/svc-types.ts", "For code that sends events: what the active model accepts, as TypeScript"],
    ["svc types --env live", "Those of live, on standard output"],
  ],
  async handler(context, { output }) {
    const { io, out, settings } = context;
    const { environment, project } = settings;
    const file = output === undefined ? undefined : path.resolve(io.cwd, output);
    const present = file === undefined ? undefined : await writtenBefore(file);
    const { activeVersion, getVersion } = await import("./config/stored-versions.js");
    const active = await activeVersion(context);
    if (active === null) {
      const message = `nothing was deployed to ${environment} of project ${project} yet, so any event is accepted`;
      const fix = `deploy a model first: \`svc deploy --env ${environment}\``;
      throw failure("NOTHING_DEPLOYED", message, fix);
    }
    const { version, hash, snapshot } = await getVersion(context, active);

    const again = ["svc", "types", "--env", environment, "--project", project];
    if (output !== undefined) again.push("--output", output);
    const types = [
      `${HEADER} in ${environment} of project ${printable(project)}: ${printable(version)} (${hash.slice(0, 12)}).`,
      `// Not to be edited: made by \`${again.map(shellWord).join(" ")}\`.`,
      "",
      typesOf(snapshot),
    ].join("\n");
    const document = { project, environment, version, hash };
    if (file === undefined) {
      out.result({ document: { ...document, types } }, () => types);
      return;
    }

    const isNew = present !== types;
    if (isNew) {
      const { replaceFile } = await import("../output/write-file.js");
      await replaceFile(file, types);
    }
    out.result({ document: { ...document, output: file, written: isNew } }, () =>
      isNew
        ? `Wrote the types of ${version}, active in ${environment} of ${project}, to ${file}.`
        : `${file} already has the types of ${version}, active in ${environment} of ${project}.`,
    );
  },
});

/** The text of a file that `svc types` wrote; undefined if there is no file. @throws {UserError} FILE_EXISTS for any other file */
async function writtenBefore(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw occupied(`${file} cannot be read (${code ?? message})`);
  });
  if (text === undefined || text.startsWith(HEADER)) return text;
  throw occupied(`${file} already exists, and svc types did not write it`);
}

function occupied(message: string): UserError {
  return failure("FILE_EXISTS", message, "name another file with --output, or remove it");
}

/** TypeScript types of the events and traits that a model declares, for code that sends them. Deterministic for a model. */
export function typesOf({ events, traits, strictSchema }: Snapshot): string {
  const ofEvents = sorted(events).map(([name, { properties }]) => `${key(name)}: ${propertiesOf(properties)}`);
  const ofTraits = sorted(traits).map(([name, field]) => `${key(name)}?: ${typeOf(field)} | null | undefined`);
  const types = fromTemplate("types.txt", { EVENTS: members(ofEvents), TRAITS: members(ofTraits) });
  return strictSchema ? types : types + NOT_STRICT;
}

function propertiesOf(properties: Readonly<Record<string, Field>>): string {
  const fields = sorted(properties);
  // Not {}, to which anything is assignable.
  if (fields.length === 0) return "Record<string, never>";
  const shown = fields.map(
    ([name, field]) =>
      `${key(name)}${field.optional === true ? "?" : ""}: ${typeOf(field)}${field.optional === true ? " | undefined" : ""}`,
  );
  return `{ ${shown.join("; ")} }`;
}

function typeOf(field: Field): string {
  if (field.type === "array") {
    const item = typeOf(field.items);
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }
  if (field.type === "date") return "IsoDate";
  const choices = field.type === "string" ? field.enum : undefined;
  return choices === undefined ? field.type : choices.map(quoted).join(" | ");
}

/** One per line, or nothing between the braces. */
function members(lines: readonly string[]): string {
  return lines.length === 0 ? "{}" : `{\n${lines.map((line) => `  ${line};`).join("\n")}\n}`;
}

function sorted<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}
