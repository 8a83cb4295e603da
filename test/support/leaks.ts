import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";

/** What tests put where a secret, a property or a trait goes, and no line of a log may hold. */
export const PLANTED = "planted-1f0c7d";

/** All values of SVC_SECRET in the tests begin so. */
const SERVICE_SECRET = "a secret of the tests";

/** What no line of a log may hold, and what it is. */
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

/** Looks through all logs of a directory; one leak a line. */
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

/** What is said of leaks, one line each. */
export function leaksInWords(leaks: readonly Leak[]): string {
  const shown = leaks
    .slice(0, SHOWN_MAX)
    .map(({ file, line, what, text }) => `${file}:${line}: ${what}: ${text.slice(0, 400)}`);
  return [`${leaks.length} lines of logs hold what no log may hold:`, ...shown].join("\n");
}
