import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import picocolors from "picocolors";

import { distance, localTime, shellWord } from "../../words/text.js";

/** A result that is shown only once, such as a key, and what to do if it could not be written. */
export interface ShownOnce {
  what: string;
  fix: string;
}

/** A run's view of its operating system process. Tests provide their own. */
export interface Io {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  stdout: NodeJS.WritableStream & { isTTY?: boolean | undefined; columns?: number | undefined };
  stderr: NodeJS.WritableStream & { isTTY?: boolean | undefined };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** This program's folder among the user's settings; null if there is no home directory. */
  configDirectory(): Promise<string | null>;
  /** Now, in milliseconds. */
  now(): number;
  /** An IANA time zone; the machine's unless given. */
  timeZone?: string;
  /** Set before such a result is written to standard output. */
  shownOnce?: ShownOnce;
}

/** The options of the command line that select where a command works. */
interface Place {
  env?: string | undefined;
  project?: string | undefined;
  directory?: string | undefined;
}

interface OutOptions extends Place {
  json: boolean;
  noColor: boolean;
  isFile?: true;
}

/** Commands that do not work on a project, or create one. */
export const WITHOUT_PROJECT =
  /^svc (audit|auth|completion|console|dev|events send|init|invitations|members|organization|projects|tokens|usage|validate|whoami)\b/;

export type OutputStyle = ReturnType<typeof picocolors.createColors>;

/** A JSON document as the exact text that was received. */
export interface JsonText {
  text: string;
}

/** The only place that writes. Results go to standard output; everything else, such as notes and prompts, to standard error. */
export class Out {
  readonly json: boolean;
  /** Styles for standard output and standard error; without a terminal they add nothing. */
  readonly style: OutputStyle;
  readonly errorStyle: OutputStyle;
  /** The terminal's width; unlimited if output goes to a file or a pipe. */
  readonly columns: number;
  readonly now: number;
  readonly #timeZone: string | undefined;
  readonly #io: Io;
  readonly #options: OutOptions;
  /** Whether standard output contains a document or the beginning of one: nothing may be added to it. */
  isBegun = false;

  /** @param options.isFile whether to format for a file, ignoring the terminal's width */
  constructor(io: Io, options: OutOptions) {
    const color = !options.noColor && (io.env["NO_COLOR"] ?? "") === "" && io.env["TERM"] !== "dumb";
    this.#io = io;
    this.#options = options;
    this.json = options.json;
    this.style = picocolors.createColors(color && io.stdout.isTTY === true);
    this.errorStyle = picocolors.createColors(color && io.stderr.isTTY === true);
    this.columns = io.stdout.isTTY === true && options.isFile !== true ? io.stdout.columns || 80 : Infinity;
    this.now = io.now();
    this.#timeZone = io.timeZone;
  }

  /** Prints a command's result: a single JSON document with `--json`, otherwise the text for people. */
  result(document: JsonText | { document: unknown }, text: () => string): void {
    if (!this.json) return this.print(text());
    this.isBegun = true;
    this.print("text" in document ? document.text : JSON.stringify(document.document));
  }

  /** Prints a result with a secret that is never shown again. */
  secret(document: JsonText | { document: unknown }, text: () => string, lost: ShownOnce): void {
    this.#io.shownOnce = lost;
    this.result(document, text);
  }

  /** A copy that formats for a file: without colours, with lines of any length. */
  forFile(): Out {
    return new Out(this.#io, { ...this.#options, json: false, noColor: true, isFile: true });
  }

  /** A copy that shows how far instants are from another one than now. */
  asOf(iso: string): Out {
    return new Out({ ...this.#io, now: () => Date.parse(iso) }, this.#options);
  }

  /**
   * A command to print, its words already quoted, with the present command's --env, --project and --directory added: typed as printed, it
   * works on the same project and environment.
   */
  typed(command: string): string {
    const { env, project } = this.#options;
    if (/--help$/.test(command)) return command;
    // A directory that does not exist yet only makes sense for `svc init`, which creates it.
    const isThere = existsSync(path.resolve(this.#io.cwd, this.#options.directory ?? "."));
    const directory = isThere || command.startsWith("svc init ") ? this.#options.directory : undefined;
    const options = WITHOUT_PROJECT.test(command) ? { directory } : { env, project, directory };
    const missing = Object.entries(options).filter(
      ([name, value]) => value !== undefined && !command.includes(` --${name} `),
    );
    return [command, ...missing.map(([name, value]) => `--${name} ${shellWord(value!)}`)].join(" ");
  }

  /** The same for all commands in a text that stand between backticks. */
  typedIn(text: string): string {
    return text.replaceAll(/`(svc [^`]+)`/g, (_, command: string) => `\`${this.typed(command)}\``);
  }

  at(iso: string): string {
    return localTime(iso, this.#timeZone);
  }

  /** Replaces the ISO instants of the service in a text by local times. Quoted instants, which a user typed, stay unchanged. */
  atIn(text: string): string {
    return text.replaceAll(/(?<!["\w])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?!["\w])/g, (iso) => this.at(iso));
  }

  ago(iso: string): string {
    return distance(iso, this.now);
  }

  /** The local time, and how long ago it was in brackets. */
  atAndAgo(iso: string): string {
    return `${this.at(iso)} ${this.style.dim(`(${this.ago(iso)})`)}`;
  }

  /** Writes text to standard output, without adding a line break. */
  write(text: string): void {
    this.#io.stdout.write(text);
  }

  print(text: string): void {
    this.#io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /**
   * Writes a document to standard output part by part, as fast as it is read there, and a line break after it. If the parts fail after the
   * first, `isBegun` stays true: the output is incomplete, and nothing may be added to it.
   */
  async stream(parts: AsyncIterable<string>): Promise<void> {
    for await (const part of parts) {
      this.isBegun = true;
      if (!this.#io.stdout.write(part)) await once(this.#io.stdout, "drain");
    }
    this.print("\n");
    this.isBegun = false;
  }

  /** Writes a line to standard output, and waits until there is room for more, or the signal aborts. */
  async line(text: string, signal: AbortSignal): Promise<void> {
    if (this.#io.stdout.write(`${text}\n`)) return;
    await once(this.#io.stdout, "drain", { signal });
  }

  /** Writes a note to standard error. */
  note(text: string): void {
    this.#io.stderr.write(`${text}\n`);
  }
}

/** Decodes bytes to text as they arrive, without whitespace at the very end: `Out.stream` adds the last line break. */
export async function* textOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const part of parts) {
    const text = held + decoder.decode(part, { stream: true });
    const end = text.trimEnd().length;
    held = text.slice(end);
    if (end > 0) yield text.slice(0, end);
  }
}
