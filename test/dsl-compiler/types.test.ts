import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { diagnose, inOneLine, project } from "./project.js";

/** The diagnostics of a project with type checks, in one line each. */
async function diagnosticsOf(files: string | Record<string, string>): Promise<string[]> {
  return (await diagnose(files, { types: true })).map(inOneLine);
}

const MODEL = `
import { all, defineModel, event, inactiveFor, lifecycle, number, oneOf, segment, traits } from "svc-success";
const order = event("order", { total: number() });
const customer = traits({ plan: oneOf("free", "pro") });
`;

test("a type error has its TypeScript number, its exact position, the line and a fix, and a folder is read again each time", async () => {
  const config = (limit: string) =>
    `import { defineModel } from "svc-success";\nconst limit: number = ${limit};\nexport default defineModel({});\nvoid limit;\n`;
  const directory = await project({ "svc.config.ts": config('"3"') });
  expect(await compileProject(directory, { types: true })).toEqual({
    ok: false,
    diagnostics: [
      {
        code: "TYPE_ERROR",
        typescript: "TS2322",
        severity: "error",
        message: "expected a number, but this is a text",
        file: "svc.config.ts",
        line: 2,
        column: 7,
        endLine: 2,
        endColumn: 12,
        source: ['const limit: number = "3";'],
        fix: "give a number",
      },
    ],
  });
  await writeFile(path.join(directory, "svc.config.ts"), config("3"));
  expect(await compileProject(directory, { types: true })).toMatchObject({ ok: true });
  expect(await readdir(directory)).toEqual(["svc.config.ts"]);
});

/** Conditions with one mistake each, and their diagnostics. */
const MISTAKEN: [condition: string, code: string, message: string, fix: string][] = [
  ["order.where((p) => p.totl.atLeast(3)).happened()", "UNKNOWN_PROPERTY", '"totl"', 'write "total"'],
  ['customer.plann.is("free")', "UNKNOWN_TRAIT", '"plann"', 'write "plan"'],
  ['customer.plan.in("free", "prp")', "INVALID_VALUE", '"prp"', 'write "pro"'],
  ['order.where((p) => p.total.atLeast("3")).happened()', "TYPE_MISMATCH", "a number", "give a number"],
  ["ordr.happened()", "TYPE_ERROR", '"ordr"', 'write "order"'],
  ['order.latest("nope").is("x")', "UNKNOWN_PROPERTY", 'no property "nope"', ""],
  ["all(order)", "TYPE_ERROR", "a condition", ""],
  [
    "order.where((p) => { p.total.exists(); }).never()",
    "TYPE_ERROR",
    "but this one returns nothing",
    "write (p) => p.",
  ],
  ["all(customer.plan)", "TYPE_ERROR", "this is a trait that is a text", "ask for its value"],
];

test("a mistake is reported once by the type checker and the model together", async () => {
  const segments = MISTAKEN.map(([condition], n) => `  segment("s${n}", { when: ${condition} }),\n`);
  const found = await diagnose(
    `${MODEL}export default defineModel({ events: [order], traits: customer, segments: [
${segments.join("")}] });
void [all, inactiveFor, lifecycle];`,
    { types: true },
  );
  expect(found).toMatchObject(
    MISTAKEN.map(([, code, message, fix], n) => ({
      code,
      message: expect.stringContaining(message) as string,
      fix: expect.stringContaining(fix) as string,
      file: "svc.config.ts",
      line: 6 + n,
      endLine: 6 + n,
    })),
  );
});

const FIX_TWICE = "remove one of the two, or give it another name";
const twice = `export { event } from "svc-success";\n`;

test.each<[what: string, files: string | Record<string, string>, expected: (string | RegExp)[]]>([
  [
    "an invalid trigger of a rule, without the names of types,",
    `import { defineModel, emit, event, health, rule, scale } from "svc-success";
const order = event("order");
const score = health({ components: { a: { weight: 1, score: scale(order.count(), { from: 0, to: 9 }) } }, bands: { all: 0 } });
const then = emit("order.seen");
export default defineModel({ events: [order], health: score, rules: [
  rule("a", { on: score.band, then }), rule("b", { on: [order], then }), rule("c", { on: score.overall, then }),
] });`,
    ["the health band", "a list \\[…\\]", "a number that is not compared yet"].map(
      (given) => new RegExp(`^svc.config.ts:6:.* expected what a rule can wait for, but this is ${given};`),
    ),
  ],
  [
    "each error of types and of the model, also two in one line,",
    `${MODEL}export default defineModel({ events: [order], traits: customer, segments: [
  segment("a", { when: all(customer.plan.is("fre"), inactiveFor("3 days")) }),
  segment("a", { when: inactiveFor("1.5d") }),
  segment("b", { when: lost.happened() }),
] });
const limit: number = "3";
void [all, lifecycle, limit];`,
    [
      'svc.config.ts:6:45-50 INVALID_VALUE: "fre" is not one of the declared values "free", "pro"; did you mean "free"?; write "free"',
      /^svc.config.ts:6:65-73 INVALID_DURATION: "3 days" .*; write "3d"$/,
      'svc.config.ts:7:11-14 DUPLICATE_SEGMENT: there is another segment "a"; give one of the segments another id',
      /^svc.config.ts:7:36-42 INVALID_DURATION: "1.5d" is no duration/,
      'svc.config.ts:8:24-28 TYPE_ERROR: there is no "lost" in this file; import it, or correct its name',
      "svc.config.ts:10:7-12 TYPE_ERROR: expected a number, but this is a text; give a number",
    ],
  ],
  [
    "what is no field",
    `import { array, defineModel, event, number, string, traits } from "svc-success";
const order = event("order", { total: Number, items: array(array(string())), lines: array(number().optional) });
export default defineModel({ events: [order], traits: traits({ plan: "string" }) });`,
    [
      /^svc.config.ts:2:32-37 TYPE_ERROR: expected the type of a value, but this is JavaScript's Number; give what string\(\), .* array\(…\) returns$/,
      /^svc.config.ts:2:54-76 NOT_A_FIELD: array\(…\) needs the type of its items, .*; give what string\(\), /,
      /^svc.config.ts:2:85-109 NOT_A_FIELD: .*; give what string\(\), /,
      /^svc.config.ts:3:64-68 TYPE_ERROR: expected the type of a value, but this is a text; give what string\(\), /,
    ],
  ],
  [
    "a lifecycle's mistake at its state",
    `${MODEL}export default defineModel({ events: [order], traits: customer, lifecycle: lifecycle({
  initial: "one",
  states: {
    one: { to: { twoo: order.happened(), three: order.happened() } },
    two: {
      terminal: true,
      to: { one: order.happened() },
    },
    three: {},
    four: { to: { one: inactiveFor("3 days") } },
  },
}) });
void [all, segment];`,
    [
      'svc.config.ts:8:18-22 UNKNOWN_STATE: the lifecycle has no state "twoo"; did you mean "two"?; write "two"',
      /^svc.config.ts:9:5-8 TERMINAL_STATE_WITH_TRANSITIONS: the terminal state "two"/,
      /^svc.config.ts:14:36-44 INVALID_DURATION: "3 days"/,
    ],
  ],
  [
    'a transition outside of "to", also in a list, and no state at all,',
    `${MODEL}const quiet = inactiveFor("9d");
export default defineModel({ events: [order], traits: customer, lifecycle: lifecycle({ initial: "one", states: {
  one: { two: quiet },
  two: quiet,
  three: { to: [{ one: quiet }, { two: quiet }] },
  four: null, five: { to: { five: quiet } },
}, anyState: { three: quiet } }) });
void [all, segment, order.happened()];`,
    [
      'svc.config.ts:7:10-13 TYPE_ERROR: "two" is not known here; write to: { two: … }',
      "svc.config.ts:8:3-6 TYPE_ERROR: expected a state, but this is a condition; write { to: { …: condition } } with the states that it leads to",
      'svc.config.ts:9:3-8 INVALID_SHAPE: the transitions of the state "three" are in a list, not in an object; write to: { …: condition } with the states that they lead to',
      'svc.config.ts:10:3-7 INVALID_SHAPE: the state "four" is null, not an object; write { to: { … } }, or {}',
      'svc.config.ts:10:29-33 TYPE_ERROR: the state "five" is not entered from itself; remove this transition',
      'svc.config.ts:11:16-21 TYPE_ERROR: "three" is not known here; write to: { three: … }',
    ],
  ],
  [
    "what a rule, a journey or a score takes in another form",
    `import { defineModel, emit, event, health, journey, rule, scale, segment, signal, step } from "svc-success";
const order = event("order");
const big = segment("big", { when: order.happened() });
const then = emit("order.seen");
const score = health({ components: { a: { weight: 1, score: scale(order.count(), 0, 9) } }, bands: { all: 0 } });
export default defineModel({ events: [order], health: score, segments: [big,
  segment("c", { where: order.happened() }),
], rules: [
  rule("a", { on: big.has(), then }),
  rule("b", { on: order, if: big.has(), then }), rule("f", { on: [order, big], then: [then, then] }),
  rule("g", { on: order, then, colour: "red" }),
], journeys: [
  journey("d", { start: order.happened(), steps: [order.happened()] }),
  journey("h", { start: order.happened(), steps: [{ id: "i", when: order.happened() }] }),
  journey("j", { start: order.happened(), steps: { k: order.happened() } }), journey("l", { start: order.happened(), steps: step("m", order.happened()) }),
], signals: [
  signal("e", { severity: "info", condition: order.happened() }),
] });
void [emit("order.told", "an order"), health({}), scale(order.count(), { min: 0, max: 9 })];`,
    [
      "svc.config.ts:5:85-86 TYPE_ERROR: expected 2 arguments, but got 3; write scale(order.count(), { from: 0, to: 9 })",
      'svc.config.ts:7:18-23 TYPE_ERROR: "where" is not known here; write "when"',
      "svc.config.ts:9:15-17 TYPE_ERROR: expected what a rule can wait for, but this is a condition; write big.entered()",
      'svc.config.ts:10:26-28 TYPE_ERROR: "if" is not known here; write "when"',
      "svc.config.ts:10:62-64 TYPE_ERROR: expected what a rule can wait for, but this is a list […]; write a rule for each of them",
      /^svc.config.ts:10:.*this is a list \[…\]; write a rule for each of them$/,
      'svc.config.ts:11:32-38 TYPE_ERROR: "colour" is not known here; use one of "when", "cooldown", "once"',
      /^svc.config.ts:13:51-67 TYPE_ERROR: expected a step, but this is a condition.*; write step\("…", condition\)$/,
      'svc.config.ts:14:62-66 TYPE_ERROR: "when" is not known here; remove it, or correct its name',
      "svc.config.ts:15:52-53 TYPE_ERROR: expected a list, but this is an object; write a list: [ … ]",
      "svc.config.ts:15:118-123 TYPE_ERROR: expected a list […], but this is a step; write a list: [ … ]",
      'svc.config.ts:17:35-44 TYPE_ERROR: "condition" is not known here; write "when"',
      'svc.config.ts:19:26-36 TYPE_ERROR: expected an object with a message, but this is "an order"; write { message: "…" }',
      'svc.config.ts:19:46-48 TYPE_ERROR: "components", "bands" are missing; add them',
      'svc.config.ts:19:74-77 TYPE_ERROR: "min" is not known here; use one of "from", "to"',
    ],
  ],
  [
    "a function of any event",
    `import { defineModel, event, type EventModel, type Fields, number, segment } from "svc-success";
const order = event("order", { total: number() });
const anyOf = <F extends Fields>(one: EventModel<F>) => segment("any", { when: one.happened() });
const noneOf = (one: EventModel) => segment("none", { when: one.never() });
export default defineModel({ events: [order], segments: [anyOf(order), noneOf(order)] });`,
    [
      "svc.config.ts:5:79-84 TYPE_ERROR: expected an event of other properties; write a function of any event with <F extends Fields>(event: EventModel<F>)",
    ],
  ],
  [
    "what is used above its declaration",
    `import { defineModel, event, segment } from "svc-success";
const first = segment("first", { when: later.has() });
const order = event("order");
const later = segment("later", { when: order.happened() });
export default defineModel({ events: [order], segments: [first, later] });`,
    [
      'svc.config.ts:2:40-45 TYPE_ERROR: "later" is used above its declaration; move the declaration up; where a whole condition is expected, a function that is called later also helps: () => later.…',
    ],
  ],
  [
    "a name that is not exported, along with other mistakes,",
    {
      "svc.config.ts": `import { defineModel, segment } from "svc-success";
import { ordr, login } from "./events.js";
export default defineModel({ events: [login, ordr], segments: [
  segment("a", { when: ordr.happened() }),
  segment("b", { when: login.happened().within("1.5d") }),
] });`,
      "events.ts": `import { event } from "svc-success";\nexport const order = event("order");\nexport const login = event("login");\n`,
    },
    [
      'svc.config.ts:2:10-14 NO_SUCH_EXPORT: no matching export in "events.ts" for import "ordr"; write "order"',
      /^svc.config.ts:5:48-54 INVALID_DURATION/,
    ],
  ],
  [
    "an exception, along with other mistakes but without consequential failures,",
    `import { defineModel, event, inactiveFor, segment } from "svc-success";
const login = event("login");
function days(count: number): \`\${number}d\` {
  if (count > 30) throw new Error("too long");
  return \`\${count}d\`;
}
const quiet = segment("quiet", { when: inactiveFor(days(60)) });
const other = segment("Other", { when: login.happened().within(days(10)) });
const third = segment("third", { when: quiet.has() });
export default defineModel({ events: { login }, segments: [quiet, other, third] });`,
    [
      "svc.config.ts:4:25-25 MODEL_FAILED: the model could not be loaded: Error: too long; correct the cause at this place",
      /^svc.config.ts:8:23-30 INVALID_NAME: "Other"/,
    ],
  ],
  [
    "a name that is exported twice, at both positions,",
    { "svc.config.ts": `import "./a.js";\n`, "a.ts": twice + twice },
    [
      `a.ts:1:10-15 TYPE_ERROR: there are two "event" in this file; ${FIX_TWICE}`,
      `a.ts:2:10-15 SYNTAX_ERROR: multiple exports with the same name "event"; ${FIX_TWICE}`,
    ],
  ],
  [
    "a name that is declared twice, at both positions,",
    `const a = 1;\nconst a = 2;\n`,
    [
      `svc.config.ts:1:7-8 TYPE_ERROR: there are two "a" in this file; ${FIX_TWICE}`,
      new RegExp(`^svc\\.config\\.ts:2:7-\\d+ .*"a".*; ${FIX_TWICE}$`),
    ],
  ],
  [
    "a syntax error of each file, along with type errors in other files,",
    {
      "svc.config.ts": `import { a } from "./a.js";\nimport { b } from "./b.js";\nimport "./c.js";\nexport default [a, b];\n`,
      "a.ts": `export const a = {\n  b: 1;\n};\n`,
      "b.ts": `export const b: number = "x";\n`,
      "c.ts": `const c = (;\n`,
    },
    [
      'a.ts:2:7-8 SYNTAX_ERROR: expected "}" but found ";"; correct what stands there or just before it',
      "b.ts:1:14-15 TYPE_ERROR: expected a number, but this is a text; give a number",
      /^c.ts:1:12-13 SYNTAX_ERROR: /,
    ],
  ],
])("%s is reported in one run", async (_, files, expected) => {
  expect(await diagnosticsOf(files)).toEqual(
    expected.map((one) => (typeof one === "string" ? one : (expect.stringMatching(one) as string))),
  );
});

test("a model can use Node.js APIs, without their types, and modules that import each other in a circle", async () => {
  expect(
    await diagnosticsOf({
      "svc.config.ts": `
        import { existsSync } from "node:fs";
        import path from "path";
        import { defineModel } from "svc-success";
        import * as parts from "./segments.js";
        import { stages } from "./stages.js";
        const { quiet, chosen, welcome } = parts;
        if (existsSync(path.join(import.meta.dirname, "none"))) console.log(process.env["NONE"]);
        export default defineModel({ lifecycle: stages, segments: [quiet, chosen], rules: [welcome] });`,
      "stages.ts": `
        import { lifecycle } from "svc-success";
        import { quiet } from "./segments.js";
        export const stages = lifecycle({ initial: "a", states: { a: { to: { b: () => quiet.has() } }, b: {} } });`,
      "segments.ts": `
        import { all, inactiveFor, segment } from "svc-success";
        import { stages } from "./stages.js";
        export { welcome } from "./rules.js";
        export const quiet = segment("quiet", { when: () => all(stages.is("a"), inactiveFor("3d")) });
        export const chosen = segment("chosen");`,
      "rules.ts": `
        import { addTo, rule } from "svc-success";
        import { chosen, quiet } from "./segments.js";
        export const welcome = rule("welcome", { on: () => quiet.entered(), then: () => addTo(chosen) });`,
    }),
  ).toEqual([]);
});

test("types are checked only if asked for, and without a tsconfig.json of the author", async () => {
  const source = `import { defineModel } from "svc-success";\nconst a: string = null;\nexport default defineModel({});\nvoid a;\n`;
  const lax = { compilerOptions: { strict: false, noEmit: false, paths: { svc: ["./nowhere"] } } };
  const files = { "svc.config.ts": source, "tsconfig.json": JSON.stringify(lax) };
  expect(await diagnosticsOf(files)).toEqual([
    "svc.config.ts:2:7-8 TYPE_ERROR: expected a text, but this is null; give a text",
  ]);
  expect(await diagnose(files)).toEqual([]);
});

test.each<[members: string, expected: string[]]>([
  [
    "name: customer.seats,\n  renewal: customer.plan,\n  show: [customer.seats, customer.seats]",
    [
      '7:30-37 DUPLICATE_TRAIT: the trait "seats" is shown twice; show the trait once',
      "8:3-7 TYPE_MISMATCH: expected a trait that is a text, but this is a trait that is a number; give a trait that is a text",
      "9:3-10 TYPE_MISMATCH: expected a trait that is a date, but this is a trait that is a text; give a trait that is a date",
    ],
  ],
  [
    'owner: "plan",\n  show: [customer.seets]',
    [
      '8:3-8 NOT_A_TRAIT: "owner" of the display is not a trait; give a trait, such as customer.plan',
      '9:19-24 UNKNOWN_TRAIT: there is no trait "seets"; did you mean "seats"?; write "seats"',
    ],
  ],
  ["nam: customer.plan", ['8:3-6 TYPE_ERROR: "nam" is not known here; write "name"']],
])("each mistake of a display with %s is one diagnostic", async (members, expected) => {
  const source = `import { defineModel, display, event, number, oneOf, traits } from "svc-success";
const login = event("login");
const customer = traits({ plan: oneOf("free", "pro"), seats: number() });

export default defineModel({
  events: [login],
  traits: customer, display: display({
  ${members} }),
});`;
  expect(await diagnosticsOf(source)).toEqual(expected.map((one) => `svc.config.ts:${one}`));
});

test("an aborted check does not affect the next one", async () => {
  const directory = await project({ "svc.config.ts": "for (;;) {}\n" });
  const stopping = new AbortController();
  const compiled = compileProject(directory, { types: true, timeLimitMs: 1_000, signal: stopping.signal });
  stopping.abort();
  await expect(compiled).rejects.toThrow("the type checker ended");
  const found = await diagnosticsOf(
    `${MODEL}export default defineModel({ events: [order], traits: customer, strictSchema: 3 });\n`,
  );
  expect(found).toContainEqual(expect.stringMatching(/^svc\.config\.ts:5:\d+-\d+ TYPE_ERROR: /));
});
