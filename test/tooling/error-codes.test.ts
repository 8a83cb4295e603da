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

/** What decides about answers: the HTTP surface, what it asks of operations, the local engine, the database, and the schema check. */
const sources: Source[] = ["src/http", "src/ingestion", "src/local", "sql/functions"]
  .flatMap((folder) =>
    readdirSync(path.join(repository, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .concat(PAYLOAD)
  .filter((file) => /\.(ts|sql)$/.test(file))
  // Codes of findings, and of calls that are kept or passed over, are of no errors.
  .filter((file) => !file.startsWith("sql/functions/monitoring/check_") && file !== TRACKING)
  .map((file) => ({ file, text: readFileSync(path.join(repository, file), "utf8") }));

/** Names of that form which no answer has as its code. */
const NO_CODES = new Set([
  "EVALUATION_FAILED", // what `svc dev` prints of an evaluation that failed
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

/** `INVALID_${"A" | "B"}_${"C" | "D"}` as the four codes that it stands for; a template of anything else as none. */
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
    ...matches(text, /(?:code: |[45]\d\d, |message = )["']([A-Z]+)["']/g), // of one word, where a code stands
    ...matches(text, /`([A-Z_]+\$\{[^`\n]*)`/g).flatMap(expand),
    ...(file === TEXTS ? matches(text, /^ {2}([A-Z_]+): \{/gm) : []), // a key of the table
  ].filter((name) => !NO_CODES.has(name) && !WARNINGS.includes(name));
}

/** The codes that a source names with their statuses, as `CODE 404`, as far as both stand together. */
function statusesOf(source: Source): string[] {
  const { file, text } = source;
  // What is wrong with operations has one status, which those who refuse them know.
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

/** SQLSTATEs of ours and the status of each, from the one table. */
const statusBySqlstate = new Map(
  [...sources.find(({ file }) => file === ERRORS)!.text.matchAll(/^ +(SV\d{3}): (\d{3}),/gm)].map(
    ([, sqlstate, status]) => [sqlstate!, status!],
  ),
);

const codes = [...new Set(sources.flatMap(codesOf))].sort();
const statuses = [...new Set(sources.flatMap(statusesOf))].sort();

test("the sources are looked through", () => {
  // One of each kind of place.
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

  test("says the status with which the sources answer each code", () => {
    const documented = documentedErrors.map(({ code, status }) => `${code} ${status}`);
    expect(documented.sort()).toEqual(statuses);
  });

  test("lists all of them in the order of their sections, with status and whether sending again helps", () => {
    const rows = [...errorsPage.matchAll(/^\| \[([A-Z_]+)\]\(#([A-Z_]+)\) +\| (\d{3}) +\| (.*?) +\|$/gm)];
    expect(rows.map(([, code, anchor, status, again]) => ({ code, anchor, status: Number(status), again }))).toEqual(
      documentedErrors.map(({ code, status, sendAgain }) => ({ code, anchor: code, status, again: short(sendAgain) })),
    );
  });

  test("tells to send again what the rules for clients say", () => {
    const again = documentedErrors.filter(({ sendAgain }) => sendAgain.startsWith("yes")).map(({ code }) => code);
    const temporary = documentedErrors.filter(({ status }) => status === 408 || status === 429 || status >= 500);
    // A customer appears a moment after its first operation was accepted.
    expect(again.filter((code) => code !== "CUSTOMER_NOT_FOUND")).toEqual(temporary.map(({ code }) => code));
    for (const { code, sendAgain } of documentedErrors) expect(`${code}: ${sendAgain}`).toMatch(/: (yes, .|no$)/);
  });

  test("shows a body of each, which leads to its section", () => {
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

/** How the list says what a section says. */
function short(sendAgain: string): string {
  return sendAgain
    .replace(/^yes, /, "")
    .replace("after the seconds in", "after")
    .replace(/,.*/, "");
}
