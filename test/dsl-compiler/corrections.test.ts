import { readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";

import { correctFile } from "../../src/dsl-compiler/diagnostics/edits.js";
import { compileProject, type Diagnostic } from "../../src/dsl-compiler/index.js";
import { project } from "./project.js";

const HEAD = `import { all, any, array, boolean, date, daysSince, defineModel, event, health, inState, journey, lifecycle, not, number, oneOf, scale, segment, signal, step, string, traits } from "svc-success";
const usage = event("usage", { amount: number(), kind: oneOf("a", "b"), gift: boolean() });
const bare = event("bare", { note: string(), tags: array(string()) });
const paid = event("paid", { at: date() });
const customer = traits({ plan: oneOf("free", "pro"), seats: number(), renewsOn: date(), partner: boolean(), name: string() });
const stages = lifecycle({ initial: "one", states: { one: { to: { two: usage.happened() } }, two: {} } });
const tour = journey("tour", { start: usage.happened(), steps: [step("first", usage.happened())] });
const loyal = segment("loyal", { when: usage.happened() });
const part = { when: usage.happened() };
const alarm = signal("alarm", { severity: "warning", when: usage.never() });
const score = health({ components: { use: { weight: 1, score: scale(usage.count(), { from: 0, to: 9 }) } }, bands: { all: 0 } });
`;

/** A model with a segment for each condition, each on its own line. */
function modelOf(conditions: readonly string[]): string {
  const segments = conditions.map((condition, n) => `  segment("s${n}", { when: ${condition} }),\n`);
  return `${HEAD}export default defineModel({ events: [usage, bare, paid], traits: customer, lifecycle: stages, journeys: [tour], health: score, signals: [alarm], segments: [loyal,
${segments.join("")}] });
void [all, any, daysSince, inState, not];
`;
}

interface Compiled {
  found: Diagnostic[];
  /** The condition after automatic corrections. */
  corrected: string;
}

/** The diagnostics and corrections of each condition, from one compilation. */
async function compileConditions(conditions: readonly string[]): Promise<Compiled[]> {
  const source = modelOf(conditions);
  const directory = await project({ "svc.config.ts": source });
  const result = await compileProject(directory, { types: true });
  if (result.ok) throw new Error("nothing was found");
  const { diagnostics, correctedFiles: [corrected] = [] } = result;
  const first = source.slice(0, source.indexOf('segment("s0"')).split("\n").length;
  const lines = (corrected?.after ?? source).split("\n");
  return conditions.map((_, n) => ({
    found: diagnostics.filter(({ line }) => line === first + n),
    corrected: /\{ when: (.*) \}\),$/.exec(lines[first + n - 1]!)![1]!,
  }));
}

/** Operators that must be written as methods, and their corrections. */
const OPERATORS: [written: string, corrected: string][] = [
  ["customer.seats > 5", "customer.seats.moreThan(5)"],
  ["customer.seats <= 5", "customer.seats.atMost(5)"],
  ["customer.seats === 5", "customer.seats.equals(5)"],
  ["5 < customer.seats", "customer.seats.moreThan(5)"],
  ["usage.count() >= 3", "usage.count().atLeast(3)"],
  ['usage.count().within("30d") < 3', 'usage.count().within("30d").lessThan(3)'],
  ['usage.latest("amount") != 3', 'usage.latest("amount").notEquals(3)'],
  ['customer.plan === "pro"', 'customer.plan.is("pro")'],
  ['customer.plan !== "pro"', 'customer.plan.isNot("pro")'],
  ["customer.plan == null", "customer.plan.missing()"],
  ["customer.plan !== undefined", "customer.plan.exists()"],
  ['customer.renewsOn < "2026-01-31"', 'customer.renewsOn.before("2026-01-31")'],
  ['stages === "two"', 'stages.is("two")'],
  ["usage.where((p) => p.amount > 5).happened()", "usage.where((p) => p.amount.moreThan(5)).happened()"],
  ['usage.happened() && stages.is("two")', 'all(usage.happened(), stages.is("two"))'],
  ["usage.happened() || customer.seats > 5", "any(usage.happened(), customer.seats.moreThan(5))"],
  ['() => !customer.plan.is("pro")', '() => not(customer.plan.is("pro"))'],
  ['!(customer.seats > 5 && customer.plan === "pro")', 'not(all(customer.seats.moreThan(5), customer.plan.is("pro")))'],
  [
    'usage.never() && stages.is("two") || !customer.partner.is(true)',
    'any(all(usage.never(), stages.is("two")), not(customer.partner.is(true)))',
  ],
];

/** Methods by other names, and their corrections. */
const METHODS: typeof OPERATORS = [
  ["customer.seats.greaterThan(5)", "customer.seats.moreThan(5)"],
  ["customer.seats.gte(5)", "customer.seats.atLeast(5)"],
  ["customer.seats.lesThan(5)", "customer.seats.lessThan(5)"],
  ['customer.renewsOn.atLeast("2026-01-31")', 'customer.renewsOn.onOrAfter("2026-01-31")'],
  ['customer.renewsOn.atMost("2026-01-31")', 'customer.renewsOn.onOrBefore("2026-01-31")'],
  ['customer.renewsOn.moreThan("2026-01-31")', 'customer.renewsOn.after("2026-01-31")'],
  ['customer.renewsOn.lessThan("2026-01-31")', 'customer.renewsOn.before("2026-01-31")'],
];

/** Comments next to operators, which no edit would keep. */
const COMMENTED = [
  "customer.seats /* a */ > 5",
  "5 < /* a */ customer.seats",
  "customer.plan == /* a */ null",
  "usage.happened() /* a */ && usage.never()",
  "! /* a */ usage.happened()",
];

test("an operator or a method by another name is reported and corrected, but for a comment that would be lost", async () => {
  const rows = [...OPERATORS, ...METHODS, ...COMMENTED.map((written) => [written, written] as const)];
  const compiled = await compileConditions(rows.map(([written]) => written));
  expect(compiled.map(({ corrected }) => corrected)).toEqual(rows.map(([, corrected]) => corrected));
  const operators = compiled.slice(0, OPERATORS.length);
  for (const { found } of operators) {
    expect(found.length).toBeGreaterThan(0);
    for (const { code, fix, edits } of found) {
      expect([code, edits?.length]).toEqual(["INVALID_OPERATOR", expect.any(Number)]);
      expect(fix).toMatch(/^write /);
    }
  }
  expect(operators.slice(0, 14).every(({ found }) => found.length === 1)).toBe(true);
  for (const { found } of compiled.slice(-COMMENTED.length)) {
    expect(found).toHaveLength(1);
    expect(found[0]!.fix).toMatch(/^write .*; --fix does not do this: the comment beside ".*" would be lost$/);
  }
});

const ONE_SCOPE = /^write one of the two: a condition may have one \.within or one \.since$/;

/** Mistakes that cannot be corrected with certainty, and their fixes in words. */
const IN_WORDS: [written: string, code: string, fix: RegExp][] = [
  ['customer.seats > "5"', "INVALID_OPERATOR", /^write \.moreThan\("5"\)$/],
  ["usage > 5", "INVALID_OPERATOR", /^write one of \.where\(…\), /],
  ["usage.count() * 2", "INVALID_OPERATOR", /^write a comparison with a number, or send/],
  ["usage.count() / customer.seats", "INVALID_OPERATOR", /^write \.per\(customer\.seats\), which takes a measure$/],
  ["usage.count() - 3", "INVALID_OPERATOR", /^write a comparison with a number, or send/],
  [
    "customer.partner && usage.happened()",
    "INVALID_OPERATOR",
    /^write all\(customer\.partner\.is\(true\), usage\.happened\(\)\)$/,
  ],
  ['stages.is("two") ? usage.happened() : usage.never()', "INVALID_OPERATOR", /^write any\(all\(/],
  [
    '() => { if (stages.is("one")) return usage.happened(); return usage.never(); }',
    "INVALID_OPERATOR",
    /^write any\(all\(stages\.is\("one"\), …\), all\(not\(stages\.is\("one"\)\), …\)\)$/,
  ],
  ["customer.seats", "TYPE_ERROR", /^compare it/],
  ["usage.atLeast(3)", "UNKNOWN_MEMBER", /^write \.count\(\) first/],
  ['usage.latest("kind").per(customer.seats).atLeast(1)', "UNKNOWN_MEMBER", /^write it of a count, of a sum, or of a/],
  [
    'customer.seats.per(usage.latest("kind")).atLeast(1)',
    "TYPE_ERROR",
    /^give a number of the customer's: event\.count/,
  ],
  ["usage.happened().and(usage.never())", "UNKNOWN_MEMBER", /^write all\(…, …\)$/],
  ["usage.count().thisMonth().atLeast(3)", "UNKNOWN_MEMBER", /windows have fixed lengths/],
  ["usage.where((p) => p.amont.atLeast(3)).happened()", "UNKNOWN_PROPERTY", /^write "amount"$/],
  ['inState().lessThan("30d")', "UNKNOWN_MEMBER", /^write not\(….atLeast\("30d"\)\)/],
  ['inState().moreThan("30d")', "UNKNOWN_MEMBER", /^write \.atLeast\("30d"\)$/],
  ["inState()", "TYPE_ERROR", /^compare it, with \.atLeast\("60d"\)$/],
  ['daysSince(usage).within("30d")', "UNKNOWN_MEMBER", /^write \.lessThan\(30\)/],
  ['usage.count().within("30d")', "TYPE_ERROR", /^compare it/],
  ['usage.sum("amount").plus(customer.seats).atLeast(1)', "UNKNOWN_MEMBER", /^write a count or a sum of one event/],
  ["usage.where({ amount: 5 }).happened()", "TYPE_ERROR", /^give a function: \(p\) => p\.amount\.equals\(5\)$/],
  [
    'usage.where({ kind: "a", gift: true }).happened()',
    "TYPE_ERROR",
    /^give a function: \(p\) => all\(p\.kind\.is\("a"\), p\.gift\.is\(true\)\)$/,
  ],
  ["usage.where(5).happened()", "TYPE_ERROR", /^give a condition on the event's properties: \(p\) => /],
  ['usage.count().within("3d").since("state").atLeast(1)', "UNKNOWN_MEMBER", ONE_SCOPE],
  ['usage.count("30d").atLeast(3)', "TYPE_ERROR", /^write \.count\(\)\.within\("30d"\)$/],
  ['usage.sum("amount", "30d").atLeast(3)', "TYPE_ERROR", /^write \.sum\("amount"\)\.within\("30d"\)$/],
  ["usage.count(customer.plan.exists()).atLeast(3)", "TYPE_ERROR", /^remove the superfluous argument$/],
  ["usage.sum().atLeast(3)", "TYPE_ERROR", /^name the property: "amount"$/],
  ["usage.distinct().atLeast(3)", "TYPE_ERROR", /^name the property, one of ("\w+"(, |$)){3}$/],
  ["usage.count().atLeast()", "TYPE_ERROR", /^give a number$/],
  ['inState("two").atLeast("3d")', "TYPE_ERROR", /^write inState\(\)\.atLeast\("60d"\); to ask which state/],
  ['inState("30d").atLeast("3d")', "TYPE_ERROR", /^write inState\(\)\.atLeast\("30d"\)$/],
];

const SINCE = /^write \.since\("state"\) for the lifecycle, or \.since\(…\) with what journey/;

/** More of them, in a second model: mistakes with the same names in one statement are merged. */
const MORE_IN_WORDS: typeof IN_WORDS = [
  ["customer.plan.atLeast(3)", "UNKNOWN_MEMBER", /^use one of "exists", /],
  ['daysSince("usage").atLeast(3)', "TYPE_ERROR", /^give an event, or event\.where\(…\)$/],
  ["customer.seats.add(1).atLeast(1)", "UNKNOWN_MEMBER", /^write a count or a sum of one event/],
  ['usage.happened().within("4000d")', "INVALID_DURATION", /^write a length from "1m" to "3650d"$/],
  ['usage.happened().within("600 weeks")', "INVALID_DURATION", /^write a length from "1m" to "3650d"$/],
  ['usage.happened().within("0d")', "INVALID_DURATION", /^write a length from "1m" to "3650d"$/],
  ['usage.happened().within("01d")', "INVALID_DURATION", /^write "1d"$/],
  [
    "customer.partner ? usage.happened() : usage.never()",
    "INVALID_OPERATOR",
    /^write any\(all\(customer\.partner\.is\(true\), …\), all\(not\(customer\.partner\.is\(true\)\), …\)\)$/,
  ],
  [
    "customer.seats ? usage.happened() : usage.never()",
    "INVALID_OPERATOR",
    /^write any\(all\(customer\.seats\.…, …\), all\(not\(customer\.seats\.…\), …\)\)$/,
  ],
  ["bare.where((p) => p.note.is(`${customer.plan}`)).happened()", "INVALID_OPERATOR", /^write the text without it; /],
  [
    "bare.where((p) => p.note.is(String(customer.plan))).happened()",
    "INVALID_OPERATOR",
    /^write the text without it; /,
  ],
  [
    "bare.where((p) => p.note.is(customer.plan.toString())).happened()",
    "INVALID_OPERATOR",
    /^write the text without it; /,
  ],
  [
    'bare.where((p) => p.note.is(["on", customer.plan].join(" "))).happened()',
    "INVALID_OPERATOR",
    /^write the text without it; /,
  ],
  [
    "bare.where((p) => p.note.is([customer.plan].filter(Boolean).join())).happened()",
    "INVALID_OPERATOR",
    /^write the text without it; /,
  ],
  [
    "bare.where((p) => p.note.is([usage, bare].filter(Boolean).join())).happened()",
    "INVALID_OPERATOR",
    /^write \.eventName, which is its name$/,
  ],
  ["bare.where((p) => p.note.is(String(alarm))).happened()", "INVALID_OPERATOR", /^write \.id, which is its name$/],
  [
    "part.when ? usage.happened() : usage.never()",
    "INVALID_OPERATOR",
    /^write any\(all\(part\.when, …\), all\(not\(part\.when\), …\)\); if it only tests whether there is one, remove the test: there is$/,
  ],
  [
    '(<F extends import("svc-success").Fields>(one: import("svc-success").EventModel<F>) => one.sum("amount"))(usage).atLeast(1)',
    "TYPE_ERROR",
    /^let the function take the number instead, \(amount: Quantity\) => …, /,
  ],
  [
    '(usage as unknown as import("svc-success").EventModel).sum("amount").atLeast(1)',
    "TYPE_ERROR",
    /^let the function take the number instead, \(amount: Quantity\) => …, /,
  ],
  ['bare.sum("note").atLeast(1)', "TYPE_MISMATCH", /^declare a property that is a number: the event has none$/],
  ["bare.avg().atLeast(1)", "TYPE_ERROR", /^declare a property that is a number: the event has none$/],
  ['bare.distinct("tags").atLeast(1)', "TYPE_MISMATCH", /^give "note"$/],
  [
    "usage.where((p) => { p.gift.is(true); }).happened()",
    "TYPE_ERROR",
    /^write \(p\) => p\.gift\.is\(true\), without braces, or "return" after the brace$/,
  ],
  ["usage.where(() => {}).happened()", "TYPE_ERROR", /^give a condition on the event's properties: \(p\) => /],
  ['usage.count().within("3d").atLeast(1).within("4d")', "TYPE_ERROR", ONE_SCOPE],
  ['customer.renewsOn.within("30d").within("3d")', "TYPE_ERROR", ONE_SCOPE],
  ["usage.happened().since(stages)", "TYPE_ERROR", SINCE],
  ['usage.count().since("tour").atLeast(1)', "TYPE_ERROR", SINCE],
];

const ONLY_PRESENT = /^write a rule on \.exited\("…"\) that adds to a segment, and ask that with \.has\(\)/;
const OF_SIGNAL = /^write the condition of the signal itself, /;

const WITHOUT_BRACKETS = /^write what is in the list, without \[ and \]$/;

/** Lists in place of arguments, and conditions on an event and on a customer in one. */
const OF_SHAPES: typeof IN_WORDS = [
  ["any([usage.happened(), usage.never()])", "TYPE_ERROR", /^write all\(…, …\) or any\(…, …\), without \[ and \]$/],
  ["[usage.happened(), usage.never()]", "TYPE_ERROR", /^write all\(…, …\) or any\(…, …\), without \[ and \]$/],
  ['customer.plan.in(["free", "pro"])', "TYPE_ERROR", WITHOUT_BRACKETS],
  ['customer.name.in(["a", "b"])', "TYPE_ERROR", WITHOUT_BRACKETS],
  ["customer.seats.in([1, 2])", "TYPE_ERROR", WITHOUT_BRACKETS],
  ['stages.in(["one", "two"])', "TYPE_ERROR", WITHOUT_BRACKETS],
  [
    "usage.where((p) => all(p.gift.is(true), customer.partner.is(true))).happened()",
    "TYPE_ERROR",
    /^write all\(event\.where\(\(p\) => …\)\.happened\(\), …\), with what is asked about the customer outside of where$/,
  ],
  [
    "usage.where((p) => customer.partner.is(true)).happened()",
    "TYPE_ERROR",
    /^write all\(event\.where\(\(p\) => …\)\.happened\(\), …\), with what is asked about the customer outside of where$/,
  ],
];

/** Questions about the present time, about two numbers, and about parts of the model. */
const OF_PARTS: typeof IN_WORDS = [
  [
    "customer.seats.atLeast(usage.count())",
    "TYPE_ERROR",
    /^write customer\.seats\.minus\(usage\.count\(\)\)\.atLeast\(0\), or/,
  ],
  ["customer.renewsOn > customer.renewsOn", "INVALID_OPERATOR", /^write \.after\(…\) with a value that is known now: /],
  [
    "usage.count() > customer.seats * 2",
    "INVALID_OPERATOR",
    /^write usage\.count\(\)\.per\(customer\.seats\)\.moreThan\(…\), or/,
  ],
  [
    "paid.where((p) => p.at > Date.now()).never()",
    "INVALID_OPERATOR",
    /^write \.after\("2026-01-31"\), with a fixed date$/,
  ],
  ["customer.renewsOn < Date.now()", "INVALID_OPERATOR", /^write customer\.renewsOn\.passed\(\)$/],
  [
    "customer.renewsOn > new Date().toISOString()",
    "INVALID_OPERATOR",
    /^write not\(customer\.renewsOn\.passed\(\)\), which/,
  ],
  [
    "customer.renewsOn < Date.now() - 86400000",
    "INVALID_OPERATOR",
    /^write \.before\("2026-01-31"\), with a fixed date, or /,
  ],
  [
    'customer.renewsOn < new Date("2026-01-01")',
    "INVALID_OPERATOR",
    /^write \.before\("2026-01-31"\), with a fixed date, or /,
  ],
  ["customer.seats > Date.now()", "INVALID_OPERATOR", /^write \.moreThan\(Date\.now\(\)\)$/],
  ["customer.renewsOn.after(new Date())", "TYPE_ERROR", /^write not\(customer\.renewsOn\.passed\(\)\), which/],
  ["alarm.isRaised()", "UNKNOWN_MEMBER", OF_SIGNAL],
  ["alarm", "TYPE_ERROR", OF_SIGNAL],
  ["alarm.cleared()", "TYPE_ERROR", /^ask what holds, not what happens: .*; no condition asks about a signal$/],
  ['stages.was("one")', "UNKNOWN_MEMBER", ONLY_PRESENT],
  ['score.band.wasIn("all")', "UNKNOWN_MEMBER", ONLY_PRESENT],
  ['usage.inactiveFor("3d")', "UNKNOWN_MEMBER", /^write \.never\(\)\.within\("30d"\)/],
  ["tour.completed()", "TYPE_ERROR", /^write tour\.is\("complete"\)$/],
  ["all(loyal.entered())", "TYPE_ERROR", /^write loyal\.has\(\)$/],
  ['stages.entered("two")', "TYPE_ERROR", /^write stages\.is\("two"\)$/],
  ["loyal.exited()", "TYPE_ERROR", /^ask what holds, not what happens: /],
  ['tour.is("done")', "TYPE_ERROR", /^give one of "not_started", "active", "complete", "expired"$/],
  ['tour.is("completed")', "TYPE_ERROR", /^write "complete"$/],
];

test("a file is corrected under its real name, and outside the folder only reported", async () => {
  const source = `import { defineModel, event, segment } from "svc-success";
const paid = event("paid");
export default defineModel({ events: [paid], segments: [segment("payers", { when: paid.count() > 5 })] });\n`;
  const directory = await project({ "inside/real.ts": source, "outside/real.ts": source });
  const compiledAs = async (real: string) => {
    await rm(path.join(directory, "inside/svc.config.ts"), { force: true });
    await symlink(real, path.join(directory, "inside/svc.config.ts"));
    return compileProject(path.join(directory, "inside"), { types: true });
  };
  expect(await compiledAs("real.ts")).toMatchObject({
    diagnostics: [{ file: "real.ts", fix: "write .moreThan(5)", edits: expect.any(Array) }],
    correctedFiles: [{ file: "real.ts" }],
  });
  const outside = await compiledAs("../outside/real.ts");
  expect(outside).toMatchObject({
    diagnostics: [
      {
        file: "../outside/real.ts",
        fix: "write .moreThan(5); --fix does not do this: the file is outside of the project's folder",
      },
    ],
  });
  expect(outside).not.toHaveProperty("correctedFiles");
});

test.each([[IN_WORDS], [MORE_IN_WORDS], [OF_SHAPES], [OF_PARTS]])(
  "an inexpressible or ambiguous condition is explained in words and left unchanged",
  async (rows) => {
    const compiled = await compileConditions(rows.map(([written]) => written));
    expect(compiled.map(({ found }) => found.map(({ code, fix, edits }) => [code, fix, edits]))).toEqual(
      rows.map(([, code, fix]) => [[code, expect.stringMatching(fix), undefined]]),
    );
    expect(compiled.map(({ corrected }) => corrected)).toEqual(rows.map(([written]) => written));
  },
);

test("operators in an author's own functions are accepted on optional values, values that are not conditions, and identities", async () => {
  const directory = await project({
    "svc.config.ts": `import { all, type Condition, defineModel, event, inactiveFor, segment, string, traits } from "svc-success";
const login = event("login");
const logout = event("logout");
const quiet = inactiveFor("3d");
const named: Record<string, Condition> = { quiet };
const both = (one: Condition, other?: Condition) => (other ? all(one, other) : one);
const either = (name: string) => {
  const chosen = named[name];
  if (chosen) return chosen;
  return named["none"] || quiet;
};
for (const one of [quiet]) if (one) [one].forEach((same) => { if (same) void same; });
const labels = [login, logout].map((one) => \`\${one.eventName}: \${String.raw\`\${one}\`}\`);
const chosenBy = (name: string) => named[name];
const firstOf = (conditions: Condition[]) => {
  for (const one of conditions) return one;
  return conditions[0];
};
if (chosenBy("none") || firstOf([])) void 0;
if (named["none"] && named["quiet"]) void 0;
var kept: Condition = keep();
function keep() { if (kept) return kept; return kept || quiet; }
function deep(n: number) { if (n > 0) return deep(n - 1); return quiet; }
const deepest: Condition = deep(2);
if (deepest) void 0;
const makers: Record<string, () => Condition> = {};
const made = makers["none"]?.();
if (made) void made;
let next: Condition;
for (let n = 0; (next = [quiet][n]); n++) void next;
do if ((next = [quiet][1])) break; while ((next = [quiet][1]));
function* lookups(name: string) { yield named[name]!; return named[name]!; }
if (lookups("none").next().value) void 0;
const listed = [login, logout].map((one) => one.eventName).join(String(2)).toString();
const found = named["none"];
const first = [quiet][0] && found;
const account = traits({ plan: string(), tier: string() });
const texts = [account.plan, account.tier].filter((trait) => trait !== account.tier);
const others = [login, logout].filter((one) => one !== login && one.eventName > "l" && !process.env["NONE"]);
export default defineModel({ events: [login, ...others], segments: [
  segment("a", { when: both(quiet) }), segment("b", { when: either("none") }), segment("c", { when: !found ? quiet : found }),
] });
void [first, texts, labels, listed];`,
  });
  expect(await compileProject(directory, { types: true })).toMatchObject({ ok: true });
});

const PART = 'segment("active", { when: login.happened() })';
test.each([
  [
    "function*",
    PART,
    "segments: parts()",
    "expected a list, but this is a generator",
    /^write a list of what it gives/,
  ],
  [
    "function*",
    'step("one", login.happened())',
    'journeys: [journey("tour", { start: login.happened(), steps: parts() })]',
    "expected a list, but this is a generator",
    /^write a list of what it gives/,
  ],
  [
    "async function*",
    PART,
    "segments: parts()",
    "expected a list, but this is an asynchronous generator",
    /for await /,
  ],
  [
    "function*",
    "1",
    'lifecycle: lifecycle({ initial: "a", states: parts() })',
    expect.not.stringContaining(" list"),
    / /,
  ],
])("a generator is named as such in place of a list: %s of %s as %s", async (generator, part, used, message, fix) => {
  const directory = await project({
    "svc.config.ts": `import { defineModel, event, journey, lifecycle, segment, step } from "svc-success";
const login = event("login");
${generator} parts() { yield ${part}; }
export default defineModel({ events: [login], ${used} });
void [journey, lifecycle, segment, step];`,
  });
  const compiled = await compileProject(directory, { types: true });
  const found = compiled.ok ? [] : compiled.diagnostics.filter(({ code }) => code === "TYPE_ERROR");
  expect(found).toMatchObject([{ message, fix: expect.stringMatching(fix) }]);
});

test("a name that is not imported is added to the import of the language, or to a first one below the directives", async () => {
  const body = `const login = event("login");
const segments = [segment("a", { when: login.happened() }), segment("b", { when: login.never() })];
export default defineModel({ events: [login], segments });\n`;
  const use = `void event("login");\n`;
  const files: Record<string, [before: string, after: string]> = {
    "svc.config.ts": [
      `import "./lines.js";\nimport "./none.js";\nimport { defineModel, event } from "svc-success";\n${body}`,
      `import "./lines.js";\nimport "./none.js";\nimport { defineModel, event, segment } from "svc-success";\n${body}`,
    ],
    "lines.ts": [
      `import {\n  defineModel,\n  event,\n} from "svc-success";\n${body}`,
      `import {\n  defineModel,\n  event,\n  segment,\n} from "svc-success";\n${body}`,
    ],
    "none.ts": [
      `#!/usr/bin/env node\n"use strict";\n${use}`,
      `#!/usr/bin/env node\n"use strict";\nimport { event } from "svc-success";\n${use}`,
    ],
  };
  const written = Object.fromEntries(Object.entries(files).map(([file, [before]]) => [file, before]));
  const result = await compileProject(await project(written), { types: true });
  if (result.ok) throw new Error("nothing was found");
  const corrected = result.correctedFiles!.map(({ file, before, after }) => [file, [before, after]]);
  expect(Object.fromEntries(corrected)).toEqual(files);
  // A name that is used twice is reported once.
  const found = result.diagnostics.filter(({ file }) => file !== "none.ts").map(({ message, fix }) => [message, fix]);
  expect(found).toEqual(
    Array(2).fill(['there is no "segment" in this file', 'add segment to the import of "svc-success"']),
  );
});

test("a missing import is added, also from a file not imported yet, in the style of the other imports", async () => {
  const directory = await project({
    "svc.config.ts": `import { paid } from "./model/money.ts";\r\nexport default defineModel({ events: [paid, login] });\r\n`,
    "model/money.ts": `import { event } from "svc-success";\nexport const paid = event("paid");\n`,
    "model/use.ts": `import { event } from "svc-success";\nexport const login = event("login");\n`,
  });
  const corrected = async () => {
    const result = await compileProject(directory, { types: true });
    if (result.ok) return undefined;
    const [file] = result.correctedFiles!;
    await writeFile(path.join(directory, file!.file), file!.after);
    return file!.corrected.map(({ fix }) => fix);
  };
  // Both are the first line of the file.
  expect(await corrected()).toEqual([
    'write import { defineModel } from "svc-success";',
    'write import { login } from "./model/use.ts";',
  ]);
  expect(await corrected()).toBeUndefined();
  expect((await readFile(path.join(directory, "svc.config.ts"), "utf8")).split("\r\n").slice(0, 3).toSorted()).toEqual([
    'import { defineModel } from "svc-success";',
    'import { login } from "./model/use.ts";',
    'import { paid } from "./model/money.ts";',
  ]);
});

test("a misspelt name is corrected everywhere, and missing names share one import", async () => {
  const directory = await project({
    "svc.config.ts": `const logins = event("login");\nexport default defineModel({ events: [lgins], segments: [segment("a", { when: lgins.never() })] });\n`,
  });
  for (;;) {
    const result = await compileProject(directory, { types: true });
    if (result.ok) break;
    const { file, after } = result.correctedFiles![0]!;
    await writeFile(path.join(directory, file), after);
  }
  expect(await readFile(path.join(directory, "svc.config.ts"), "utf8")).toBe(
    `import { event, defineModel, segment } from "svc-success";\nconst logins = event("login");\nexport default defineModel({ events: [logins], segments: [segment("a", { when: logins.never() })] });\n`,
  );
});

test("a name that several files export, or that is similar to several others, is reported but not corrected", async () => {
  const two = `export const paid = 1;\n`;
  const directory = await project({
    "svc.config.ts": `import { defineModel } from "svc-success";\nconst logins = 1;\nconst loginz = 2;\nexport default defineModel({});\nvoid [paid, loginx, logins, loginz];\n`,
    "a.ts": two,
    "b.ts": two,
  });
  const result = await compileProject(directory, { types: true });
  expect(result).toMatchObject({
    ok: false,
    diagnostics: [
      {
        message: 'there is no "paid" in this file',
        fix: 'import it from the one that is meant: "a.ts" or "b.ts" export it',
      },
      { message: 'there is no "loginx" in this file' },
    ],
  });
  expect(result).not.toHaveProperty("correctedFiles");
});

test("overlapping edits wait for the next run, and text inserted at an end goes outside", () => {
  const edit = (column: number, endColumn: number, text: string) => ({
    file: "a.ts",
    line: 2,
    column,
    endLine: 2,
    endColumn,
    text,
  });
  const diagnostic = (...edits: Diagnostic["edits"] & object) =>
    ({ code: "A", severity: "error", message: "", edits }) as Diagnostic;
  const [outer, inner, late] = [
    diagnostic(edit(1, 1, "f("), edit(5, 5, ")")),
    diagnostic(edit(1, 5, "wxyz")),
    diagnostic(edit(2, 3, "!")),
  ];
  const { after, corrected } = correctFile("a.ts", "\r\nabcd\n", [outer, inner, late, { ...outer, edits: [] }]);
  expect(after).toBe("\r\nf(wxyz)\n");
  expect(corrected).toEqual([outer, inner]);
});
