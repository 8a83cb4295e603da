import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";

/** A value that tests use as secret, property or trait, and that no line of a log may contain. */
export const PLANTED = "planted-1f0c7d";

/** The beginning of all values of SVC_SECRET in the tests. */
const SERVICE_SECRET = "a secret of the tests";

/** Patterns that no line of a log may contain, with their descriptions. */
const SECRETS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a planted value", new RegExp(PLANTED, "i")],
  ["SVC_SECRET", new RegExp(SERVICE_SECRET)],
  ["an API key, token, link or session", /\bsvc_(?:test|live|token|link|session|device|visit)_[A-Za-z0-9_-]{20,}/],
  ["a webhook secret", /\bwhsec_[A-Za-z0-9+/=]{20,}/],
  ["a bearer token", /\bBearer [A-Za-z0-9._~+/=-]{20,}/i],
  ["an e-mail address", /[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.(?:example|com)\b/],
  ["a customer's id", /\bCustomer \\"/],
  ["a password in a URL", /\b(?:postgres(?:ql)?|smtps?):\/\/[^:@/\s"]*:(?!\[redacted\])[^@\s"]+@/],
];

/** A secret that was found in a log. */
export interface Leak {
  file: string;
  line: number;
  what: string;
  text: string;
}

/** Searches all logs of a directory; reports at most one leak per line. */
export async function searchLogs(directory: string): Promise<Leak[]> {
  const leaks: Leak[] = [];
  for (const name of (await readdir(directory)).sort()) {
    const file = path.join(directory, name);
    let line = 0;
    for await (const text of createInterface(createReadStream(file))) {
      line += 1;
      const [what] = SECRETS.find(([, pattern]) => pattern.test(text)) ?? [];
      if (what !== undefined) leaks.push({ file, line, what, text });
    }
  }
  return leaks;
}

const SHOWN_MAX = 20;

/** A report of leaks, one line each. */
export function leaksInWords(leaks: readonly Leak[]): string {
  const shown = leaks
    .slice(0, SHOWN_MAX)
    .map(({ file, line, what, text }) => `${file}:${line}: ${what}: ${text.slice(0, 400)}`);
  return [`${leaks.length} lines of logs contain what no log may contain:`, ...shown].join("\n");
}
