/** Where a run reads from and writes to, as far as the process of an operating system is concerned. Tests bring their own. */
export interface Io {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  stdout: NodeJS.WritableStream & { isTTY?: boolean | undefined; columns?: number | undefined };
  stderr: NodeJS.WritableStream & { isTTY?: boolean | undefined };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Now, in milliseconds. */
  now(): number;
  /** An IANA time zone; that of the machine where it is missing. */
  timeZone?: string;
}
