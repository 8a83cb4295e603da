import { readFileSync } from "node:fs";

/** An error as its section in docs/errors.md describes it. */
export interface DocumentedError {
  code: string;
  status: number;
  /** The words after "Send again:". */
  sendAgain: string;
  /** The answer that is shown. */
  body: { error: Record<string, unknown> };
  /** The whole section. */
  text: string;
}

export const errorsPage = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

/** The sections whose heading is a code, in their order. */
export const documentedErrors: readonly DocumentedError[] = errorsPage
  .split(/^## /m)
  .filter((text) => /^[A-Z_]+\n/.test(text))
  .map((text) => ({
    code: part(text, /^([A-Z_]+)\n/),
    status: Number(part(text, /^- \*\*Status:\*\* (\d{3})$/m)),
    sendAgain: part(text, /^- \*\*Send again:\*\* (.+)$/m),
    body: JSON.parse(part(text, /^```json\n(.*?)^```$/ms)) as DocumentedError["body"],
    text,
  }));

function part(text: string, pattern: RegExp): string {
  const match = pattern.exec(text)?.[1];
  if (match === undefined) throw new Error(`no ${pattern} in the section of docs/errors.md: ${text.slice(0, 200)}`);
  return match;
}
