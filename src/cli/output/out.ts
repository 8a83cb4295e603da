import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import picocolors from "picocolors";

import { distance, localTime, shellWord } from "../../words/text.js";

/** What standard output has that is shown nowhere else, such as a key, and what to do where it could not be written. */
export interface ShownOnce {
  what: string;
  fix: string;
}

/** Where a run reads from and writes to, as far as the process of an operating system is concerned. Tests bring their own. */
export interface Io {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  stdout: NodeJS.WritableStream & { isTTY?: boolean | undefined; columns?: number | undefined };
  stderr: NodeJS.WritableStream & { isTTY?: boolean | undefined };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Where this user's programs keep their settings, in a folder of this program's own; null where the machine knows no home. */
  configDirectory(): Promise<string | null>;
  /** Now, in milliseconds. */
  now(): number;
  /** An IANA time zone; that of the machine where it is missing. */
  timeZone?: string;
  /** Of what was written to standard output so far. */
  shownOnce?: ShownOnce;
}

/** Where a command works, as far as that was said on its command line. */
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

/** Commands that are about no project, or make one. */
export const WITHOUT_PROJECT =
  /^svc (audit|auth|completion|console|dev|events send|init|invitations|members|organization|projects|tokens|usage|validate|whoami)\b/;

export type OutputStyle = ReturnType<typeof picocolors.createColors>;

/** A document whose JSON text is already there, exactly as it came. */
export interface JsonText {
  text: string;
}

/** The only place that writes. Results go to standard output; everything else, such as notes and prompts, to standard error. */
export class Out {
  readonly json: boolean;
  /** Styles for standard output and standard error; they add nothing where there is no terminal. */
  readonly style: OutputStyle;
  readonly errorStyle: OutputStyle;
  /** The terminal's width; unlimited where output goes to a file or a pipe. */
  readonly columns: number;
  readonly now: number;
  readonly #timeZone: string | undefined;
  readonly #io: Io;
  readonly #place: Place;
  /** Whether standard output holds a document or the beginning of one: nothing may be added to it. */
  isBegun = false;

  /** @param options.isFile whether it is to fit a file, whatever the terminal's width */
  constructor(io: Io, options: OutOptions) {
    const color = !options.noColor && (io.env["NO_COLOR"] ?? "") === "" && io.env["TERM"] !== "dumb";
    this.#io = io;
    this.#place = { env: options.env, project: options.project, directory: options.directory };
    this.json = options.json;
    this.style = picocolors.createColors(color && io.stdout.isTTY === true);
    this.errorStyle = picocolors.createColors(color && io.stderr.isTTY === true);
    this.columns = io.stdout.isTTY === true && options.isFile !== true ? (io.stdout.columns ?? 80) : Infinity;
    this.now = io.now();
    this.#timeZone = io.timeZone;
  }

  /** Prints a command's result: the one JSON document with `--json`, otherwise the text for people. */
  result(document: JsonText | { document: unknown }, text: () => string): void {
    if (!this.json) return this.print(text());
    this.isBegun = true;
    this.print("text" in document ? document.text : JSON.stringify(document.document));
  }

  /** Prints a result with a secret that nothing shows again. */
  secret(document: JsonText | { document: unknown }, text: () => string, lost: ShownOnce): void {
    this.#io.shownOnce = lost;
    this.result(document, text);
  }

  /** How the same looks in a file: without colours, however long its lines. */
  forFile(): Out {
    return new Out(this.#io, { ...this.#place, json: false, noColor: true, isFile: true });
  }

  /**
   * A command that is printed, its words quoted already, with the options of the present one that decide on what it works: typed as it
   * stands, it works on the same project and environment.
   */
  typed(command: string): string {
    const { env, project } = this.#place;
    if (/--help$/.test(command)) return command;
    // Only `svc init` makes one.
    const isThere = existsSync(path.resolve(this.#io.cwd, this.#place.directory ?? "."));
    const directory = isThere || command.startsWith("svc init ") ? this.#place.directory : undefined;
    const options = WITHOUT_PROJECT.test(command) ? { directory } : { env, project, directory };
    const missing = Object.entries(options).filter(
      ([name, value]) => value !== undefined && !command.includes(` --${name} `),
    );
    return [command, ...missing.map(([name, value]) => `--${name} ${shellWord(value!)}`)].join(" ");
  }

  /** A text in which commands stand between backticks. */
  typedIn(text: string): string {
    return text.replaceAll(/`(svc [^`]+)`/g, (_, command: string) => `\`${this.typed(command)}\``);
  }

  at(iso: string): string {
    return localTime(iso, this.#timeZone);
  }

  /** A text in which instants stand as the service writes them. What somebody typed stands between quotes, and stays as it is. */
  atIn(text: string): string {
    return text.replaceAll(/(?<!["\w])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?!["\w])/g, (iso) => this.at(iso));
  }

  ago(iso: string): string {
    return distance(iso, this.now);
  }

  /** Both, the second in brackets. */
  atAndAgo(iso: string): string {
    return `${this.at(iso)} ${this.style.dim(`(${this.ago(iso)})`)}`;
  }

  /** Writes a part of a line, or of several, to standard output. */
  write(text: string): void {
    this.#io.stdout.write(text);
  }

  print(text: string): void {
    this.#io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /**
   * Writes a document to standard output part by part, as fast as it is read there, and the line's end after it. Where the parts end with
   * a failure, `isBegun` stays true: what stands there is no document, and nothing may be added to it.
   */
  async stream(parts: AsyncIterable<string>): Promise<void> {
    this.isBegun = true;
    for await (const part of parts) {
      if (!this.#io.stdout.write(part)) await once(this.#io.stdout, "drain");
    }
    this.print("\n");
    this.isBegun = false;
  }

  /** Writes a line to standard output, and waits until there is room for more, or the signal ends the waiting. */
  async line(text: string, signal: AbortSignal): Promise<void> {
    if (this.#io.stdout.write(`${text}\n`)) return;
    await once(this.#io.stdout, "drain", { signal });
  }

  /** Says something beside the result, on standard error. */
  note(text: string): void {
    this.#io.stderr.write(`${text}\n`);
  }
}

/** The text of bytes as they come, without the line's end where they end, which `Out.stream` adds. */
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
