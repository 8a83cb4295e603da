import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { documentedErrors, errorsPage } from "../support/documented-errors.js";
import { repository } from "./support/project.js";

interface Source {
  file: string;
  text: string;
}

const ERRORS = "src/http/errors.ts";
const TEXTS = "src/http/error-texts.ts";
const PAYLOAD = "src/model/payload.ts";
const TRACKING = "src/ingestion/tracking.ts";

/** The sources of error codes: the HTTP layer, the operation checks, the local engine, the database, and the schema check. */
const sources: Source[] = ["src/http", "src/ingestion", "src/local", "sql/functions"]
  .flatMap((folder) =>
    readdirSync(path.join(repository, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .concat(PAYLOAD)
  .filter((file) => /\.(ts|sql)$/.test(file))
  // Codes of findings, and of calls that are quarantined or skipped, are not error codes.
  .filter((file) => !file.startsWith("sql/functions/monitoring/check_") && file !== TRACKING)
  .map((file) => ({ file, text: readFileSync(path.join(repository, file), "utf8") }));

/** Names in the form of a code that no answer uses. */
const NO_CODES = new Set([
  "EVALUATION_FAILED", // printed by `svc dev` for a failed evaluation
  "USER_NOT_FOUND", // raised to svc-server
  "USER_NOT_VERIFIED", // the same
  "PLAN_NOT_FOUND", // the same
  "PLAN_IN_USE", // the same
  "RECOMPUTE_UNDER_WAY", // the same
  "ENVIRONMENT_NOT_FROZEN", // the same
  "ENVIRONMENT_NOT_IMPORTED", // the same
  "TRANSACTION_LOST", // raised to the worker
  "RECOMPUTE_TAKEN_OVER", // the same
]);

/** Codes of diagnostics that warn of stranded data. */
const WARNINGS = sources
  .filter(({ file }) => /^sql\/functions\/config\/stranded_/.test(file))
  .flatMap(({ text }) => matches(text, /'([A-Z]+(?:_[A-Z]+)+)'/g));

/** Expands `INVALID_${"A" | "B"}_${"C" | "D"}` to its four codes, and any other template to none. */
function expand(template: string): string[] {
  const choice = /\$\{("[A-Z]+"(?: \| "[A-Z]+")+)\}/.exec(template);
  if (!choice) return /^[A-Z_]+$/.test(template) ? [template] : [];
  return choice[1]!.split(" | ").flatMap((word) => expand(template.replace(choice[0], word.slice(1, -1))));
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1]!);
}

/** The codes that a source names. */
function codesOf({ file, text }: Source): string[] {
  return [
    ...matches(text, /["']([A-Z]+(?:_[A-Z]+)+)["']/g), // a quoted name of several words
    ...matches(text, /(?:code: |[45]\d\d, |message = )["']([A-Z]+)["']/g), // of one word, in the position of a code
    ...matches(text, /`([A-Z_]+\$\{[^`\n]*)`/g).flatMap(expand),
    ...(file === TEXTS ? matches(text, /^ {2}([A-Z_]+): \{/gm) : []), // a key of the table
  ].filter((name) => !NO_CODES.has(name) && !WARNINGS.includes(name));
}

/** The codes in a source with their statuses, as `CODE 404`, if both occur together. */
function statusesOf(source: Source): string[] {
  const { file, text } = source;
  // Errors of operations have one status, which is set where they are refused.
  if (file.startsWith("src/ingestion/")) return codesOf(source).map((code) => `${code} 400`);
  if (file === PAYLOAD) return codesOf(source).map((code) => `${code} 422`);
  return [
    ...[...text.matchAll(/\b([45]\d\d),\s+(?:code: |"[^"\n]*", )?"([A-Z_]+)"/g)].map(
      ([, status, code]) => `${code} ${status}`,
    ),
    ...[...text.matchAll(/'(SV\d{3})',\s+(?:message = |'code', )'([A-Z_]+)'/g)]
      .filter(([, , code]) => !NO_CODES.has(code!))
      .map(([, sqlstate, code]) => `${code} ${statusBySqlstate.get(sqlstate!)}`),
    ...matches(text, /raise_not_found\(\s*'([A-Z_]+)'/g).map((code) => `${code} ${statusBySqlstate.get("SV004")}`),
  ];
}

/** Our SQLSTATEs with their statuses, from the single table of them. */
const statusBySqlstate = new Map(
  [...sources.find(({ file }) => file === ERRORS)!.text.matchAll(/^ +(SV\d{3}): (\d{3}),/gm)].map(
    ([, sqlstate, status]) => [sqlstate!, status!],
  ),
);

const codes = [...new Set(sources.flatMap(codesOf))].sort();
const statuses = [...new Set(sources.flatMap(statusesOf))].sort();

test("the sources are searched", () => {
  // One code for each kind of source.
  expect(codes).toEqual(
    expect.arrayContaining(["FORBIDDEN", "NOT_FOUND", "BATCH_SIZE_INVALID", "SLUG_TAKEN", "INVALID_TRAIT_ENUM"]),
  );
  expect(statusBySqlstate.size).toBeGreaterThanOrEqual(9);
});

test("docs/segment.md says what each code of a call means", () => {
  const page = readFileSync(path.join(repository, "docs/segment.md"), "utf8");
  const explained = matches(page, /^\| `([A-Z_]+)` +\|/gm);
  const source = readFileSync(path.join(repository, TRACKING), "utf8");
  expect(explained.toSorted()).toEqual([...new Set(matches(source, /"([A-Z]+(?:_[A-Z]+)+)"/g))].toSorted());
});

describe("docs/errors.md", () => {
  test("has a section for each code that an answer can have, and no other", () => {
    expect(documentedErrors.map(({ code }) => code).sort()).toEqual(codes);
  });

  test("has the same status for each code as the sources", () => {
    const documented = documentedErrors.map(({ code, status }) => `${code} ${status}`);
    expect(documented.sort()).toEqual(statuses);
  });

  test("lists all codes in the order of their sections, with status and whether a retry helps", () => {
    const rows = [...errorsPage.matchAll(/^\| \[([A-Z_]+)\]\(#([A-Z_]+)\) +\| (\d{3}) +\| (.*?) +\|$/gm)];
    expect(rows.map(([, code, anchor, status, again]) => ({ code, anchor, status: Number(status), again }))).toEqual(
      documentedErrors.map(({ code, status, sendAgain }) => ({ code, anchor: code, status, again: short(sendAgain) })),
    );
  });

  test("advises retries exactly where the client rules do", () => {
    const retried = documentedErrors.filter(({ sendAgain }) => sendAgain.startsWith("yes")).map(({ code }) => code);
    const temporary = documentedErrors.filter(({ status }) => status === 408 || status === 429 || status >= 500);
    // A customer appears shortly after its first operation was accepted.
    expect(retried.filter((code) => code !== "CUSTOMER_NOT_FOUND")).toEqual(temporary.map(({ code }) => code));
    for (const { code, sendAgain } of documentedErrors) expect(`${code}: ${sendAgain}`).toMatch(/: (yes, .|no$)/);
  });

  test("shows a body for each code, with a link to its section", () => {
    const shown = documentedErrors.map(({ body }) => `${body.error["code"]} ${body.error["docs"]}`);
    expect(shown).toEqual(documentedErrors.map(({ code }) => `${code} https://svc.example.com/docs/api#${code}`));
  });

  test("explains the codes of warnings about stranded data", () => {
    expect(explainedBy("CONFIG_WARNINGS")).toEqual([...new Set(WARNINGS)].sort());
  });

  test("explains the codes of a configuration's problems", () => {
    const union = /export type ProblemCode =([^;]*);/.exec(
      readFileSync(path.join(repository, "src/model/snapshot/problem.ts"), "utf8"),
    )![1]!;
    expect(explainedBy("CONFIG_INVALID")).toEqual(matches(union, /"([A-Z_]+)"/g).sort());
  });
});

/** The codes in the table of an error's section. */
function explainedBy(error: string): string[] {
  const { text } = documentedErrors.find(({ code }) => code === error)!;
  return matches(text.slice(text.indexOf("| codes")), /`([A-Z_]+)`/g).sort();
}

/** The wording in the list for that of a section. */
function short(sendAgain: string): string {
  return sendAgain
    .replace(/^yes, /, "")
    .replace("after the seconds in", "after")
    .replace(/,.*/, "");
}
