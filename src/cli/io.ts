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
