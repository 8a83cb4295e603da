import path from "node:path";
import { describe, expect, test } from "vitest";
import { checkSql } from "../../scripts/lib/sql/check.js";
import { FixtureProject, repository } from "./support/project.js";

const table = `create table svc.things (
  environment_id integer not null,
  name text not null default 'Upper Case'
);
comment on table svc.things is 'Things.';
comment on column svc.things.environment_id is 'The environment.';
comment on column svc.things.name is 'A name.';
`;

const find = `-- Finds a thing.
-- Raises SV001. Locks nothing.
create or replace function svc_api.find_thing(name text)
returns integer
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _id integer;
begin
  select t.environment_id into _id from svc.things as t where t.name = find_thing.name;
  if not found then
    raise exception using errcode = 'SV001', message = 'NOT_FOUND';
  end if;
  return _id;
exception
  when division_by_zero then
    raise notice 'passed on';
    raise;
end;
$$;

comment on function svc_api.find_thing(text) is 'Finds a thing.';
`;

const double = `-- Twice a number.
-- Raises nothing, locks nothing.
create or replace function svc.double(x integer)
returns integer
language sql
immutable
return x * 2;

comment on function svc.double(integer) is 'Twice a number.';
`;

const total = `-- Adds up.
-- Raises nothing, locks nothing.
create or replace aggregate svc.total(integer) (
  sfunc = pg_catalog.int4pl,
  stype = integer
);

comment on aggregate svc.total(integer) is 'Adds up.';
`;

const trigger = `-- Counts new things.
-- Raises nothing, locks nothing.
create or replace function svc.tg_things__count()
returns trigger
language plpgsql
volatile
set search_path = ''
as $$
begin
  return null;
end;
$$;

comment on function svc.tg_things__count() is 'Counts new things.';

create or replace trigger _500_count after insert on svc.things for each statement execute function svc.tg_things__count();

comment on trigger _500_count on svc.things is 'Counts new things.';
`;

const view = `create or replace view svc_inspect.things as
select t.name
from svc.things as t;
comment on view svc_inspect.things is 'Things by name.';
`;

const tableFile = "sql/schema/010_things.sql";
const findFile = "sql/functions/things/find_thing.sql";
const doubleFile = "sql/functions/things/double.sql";
const totalFile = "sql/functions/things/total.sql";
const triggerFile = "sql/triggers/things__count.sql";
const viewFile = "sql/views/things.sql";
const list = "sql/install.json";

const good: Record<string, string> = {
  [tableFile]: table,
  [findFile]: find,
  [doubleFile]: double,
  [totalFile]: total,
  [triggerFile]: trigger,
  [viewFile]: view,
  [list]: JSON.stringify({
    schema: [tableFile],
    code: [findFile, doubleFile, totalFile, triggerFile, viewFile],
    roles: [],
  }),
};

/** The valid project with some files replaced, or removed if null, while `use` runs. */
async function withProject<T>(
  changes: Record<string, string | null>,
  use: (project: FixtureProject) => Promise<T>,
): Promise<T> {
  const files = Object.entries({ ...good, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null);
  const project = await FixtureProject.create(Object.fromEntries(files));
  try {
    return await use(project);
  } finally {
    await project.remove();
  }
}

async function findings(changes: Record<string, string | null>): Promise<string[]> {
  const { problems } = await withProject(changes, (project) => checkSql(project.root));
  return problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

/** The findings in a project with only this file. */
const findingsIn = (file: string, text: string) =>
  findings({
    ...Object.fromEntries(Object.keys(good).map((name) => [name, null])),
    [file]: text,
    [list]: JSON.stringify({ schema: [], code: [file], roles: [] }),
  });

/** Changes a valid text. Fails if the text to replace is missing, so that no rule is tested with a valid file. */
function change(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, () => to);
}

describe("the command", () => {
  const script = path.join(repository, "scripts/check-sql.js");
  const run = (project: FixtureProject) => project.run(process.execPath, [script, project.root]);

  test("passes a project that keeps all rules", async () => {
    expect(await withProject({}, run)).toEqual({ code: 0, stdout: "6 SQL files checked, 0 problems\n", stderr: "" });
  });

  test("prints findings and fails", async () => {
    const stdout = `${tableFile}:1: write the keyword \`CREATE\` in lower case\n6 SQL files checked, 1 problem\n`;
    const text = change(table, "create table", "CREATE table");
    expect(await withProject({ [tableFile]: text }, run)).toEqual({ code: 1, stdout, stderr: "" });
  });
});

type Change = [from: string, to: string];

/** A file, changes that break rules, and the findings without the prefix `file:`. */
const rows: [file: string, changes: Change[], ...expected: string[]][] = [
  [tableFile, [["integer not null,", "integer nut null,"]], '2: syntax error at or near "nut"'],
  [
    findFile,
    [["if not found then", "if not found than"]],
    '3: missing "THEN" at end of SQL expression, in the body that starts in line 9',
  ],
  [
    findFile,
    [["  return _id;", "  _other := 1;\n  return _id;"]],
    '3: "_other" is not a known variable, in the body that starts in line 9',
  ],
  [
    doubleFile,
    [["return x * 2;", "set search_path = ''\nas 'select x * 2';"]],
    "3: write the body between dollar quotes, so that it can be checked",
  ],
  [
    tableFile,
    [
      ["integer not null,", "integer NOT null, "],
      ["  name text", "\tname text"],
      ["comment on table", "   comment on table"],
      ["'A name.';\n", `'${"é".repeat(101)}';`],
    ],
    "2: write the keyword `NOT` in lower case",
    "2: no blanks at the end of a line",
    "3: no tabs; indent with two spaces",
    "5: indented by 3 spaces; indent by steps of two",
    "7: the line has 141 characters; 140 is the limit",
    "7: end the file with a newline",
  ],
  [
    doubleFile,
    [["comment on", `${change(double.split("\n").slice(2, 8).join("\n"), "svc.double", "svc.triple")}\ncomment on`]],
    "9: one function per file; here are 2",
    "9: add a `comment on function svc.triple`",
  ],
  [doubleFile, [[double, "-- Nothing.\n-- At all.\nselect 1;\n"]], "1: one function per file; here are 0"],
  [
    doubleFile,
    [
      [double, double.replaceAll("svc.double", "svc.twice")],
      ["-- Twice a number.\n", ""],
      ["immutable\n", "security definer\n"],
      ["create or replace", "create"],
    ],
    "1: start with a comment of 2 to 8 lines (what it is for, the errors it raises, the locks it takes); here are 1",
    "2: write `create or replace function`: the file is applied again after every migration",
    "2: the function is `svc.twice`; name the file twice.sql",
    "2: `svc.twice` does not say whether it is immutable, stable or volatile",
    "2: `svc.twice` needs `set search_path = ''`",
  ],
  [
    findFile,
    [
      ["set search_path = ''\n", ""],
      ["security definer\n", "security invoker\n"],
      ["using errcode = 'SV001', message = 'NOT_FOUND'", "'nothing found'"],
      ["raise notice", "RAISE notice"],
      ["comment on function svc_api.find_thing(text) is 'Finds a thing.';", "select 1;"],
    ],
    "3: `svc_api.find_thing` needs `set search_path = ''`",
    "3: `svc_api.find_thing` is in svc_api and has to be `security definer`",
    "3: add a `comment on function svc_api.find_thing`",
    "14: this raise has no errcode; the default code tells the caller nothing",
    "19: write the keyword `RAISE` in lower case",
  ],
  [
    totalFile,
    [["\ncomment on aggregate svc.total(integer) is 'Adds up.';\n", ""]],
    "3: add a `comment on aggregate svc.total`",
  ],
  [triggerFile, [["\ncreate or replace trigger", "\nselect 1;\n-- trigger"]], "1: one trigger per file; here are 0"],
  [
    triggerFile,
    [
      [trigger, trigger.replaceAll("_500_count", "count").replaceAll("tg_things__count", "count_things")],
      ["comment on trigger count on svc.things is 'Counts new things.'", "select 1"],
    ],
    "3: name the trigger's function `tg_things__count`, after the file",
    "16: begin the trigger's name with a number that fixes firing order: _500_count",
    "16: add a `comment on trigger count`",
  ],
  [
    triggerFile,
    [[trigger, trigger.replaceAll("_500_count", "_500_sum")]],
    "16: name the file things__sum.sql, after table and trigger",
  ],
  [
    tableFile,
    [
      ["comment on table svc.things is 'Things.';\n", ""],
      ["comment on column svc.things.name is 'A name.';\n", "\nalter table svc.things add column size integer;\n"],
    ],
    "1: add a `comment on table svc.things`",
    "3: add a `comment on column svc.things.name`",
    "7: add a `comment on column svc.things.size`",
  ],
  [
    viewFile,
    [["comment on view svc_inspect.things is 'Things by name.';\n", ""]],
    "1: add a `comment on view svc_inspect.things`",
  ],
];

describe("every rule, broken", () => {
  const cases = rows.map(([file, changes, ...expected]) => ({ file, changes, expected }));
  test.each(cases)("$expected in $file", async ({ file, changes, expected }) => {
    const text = changes.reduce((whole, [from, to]) => change(whole, from, to), good[file]!);
    expect((await findingsIn(file, text)).toSorted()).toEqual(
      expected.map((finding) => `${file}:${finding}`).toSorted(),
    );
  });
});

describe("no rule forbids", () => {
  const inString = "comment on column svc.things.name is 'A NAME,\n   and more.';";
  const allowed: [what: string, file: string, text: string][] = [
    [
      "upper case in comments and strings",
      tableFile,
      `-- NOT a keyword\n${change(table, "'A name.'", "'A NAME; NOT null.'")}`,
    ],
    ["upper case in quoted identifiers", viewFile, change(view, "t.name", 't.name as "Select"')],
    ["any indentation in a comment", tableFile, `/* one\n   two\n     three */\n -- four\n${table}`],
    [
      "any indentation in a string",
      tableFile,
      change(table, "comment on column svc.things.name is 'A name.';", inString),
    ],
    [
      "a raise by SQLSTATE",
      findFile,
      change(find, "exception using errcode = 'SV001', message", "sqlstate 'SV001' using message"),
    ],
  ];
  test.each(allowed)("%s", async (...[, file, text]) => {
    expect(await findingsIn(file, text)).toEqual([]);
  });
});

const { code } = JSON.parse(good[list]!) as { code: string[] };
const listOf = (...files: string[]) => JSON.stringify({ schema: [tableFile], code: files }, null, 2);
const gone = "sql/functions/gone.sql";

test.each<[what: string, text: string | null, finding: unknown]>([
  [
    "names every file",
    listOf(...code.slice(0, -1)),
    `${viewFile}:1: not listed in sql/install.json, so it is never installed`,
  ],
  ["names a file once", listOf(...code, findFile), `${list}:11: ${findFile} is listed 2 times`],
  ["names only files that exist", listOf(gone, ...code), `${list}:6: there is no file ${gone}`],
  ["must exist", null, `${list}:1: the list of files to install is missing`],
  ["must be JSON", "{", expect.stringContaining(`${list}:1: not JSON: `)],
])("the list of files to install %s", async (_, text, finding) => {
  expect(await findings({ [list]: text })).toEqual([finding]);
});

test.each<[what: string, text: string, ...found: string[]]>([
  [
    "can have any format, and placeholders",
    "--! Previous: -\n\nGRANT CONNECT on database :DATABASE_NAME to svc_http;\n   select 1::INTEGER;",
  ],
  [
    "must parse, inside blocks too",
    "select 1;\ndo $$\nbegin\n  iff x;\nend;\n$$;\n",
    '2: syntax error at or near "iff", in the body that starts in line 2',
  ],
  [
    "must raise with an error code",
    "do $$\nbegin\n  raise exception 'no';\nend;\n$$;\n",
    "3: this raise has no errcode; the default code tells the caller nothing",
  ],
])("migrations %s", async (_, text, ...found) => {
  const migration = "migrations/committed/000001.sql";
  expect(await findings({ [migration]: text, "migrations/current.sql": "-- Nothing yet.\n" })).toEqual(
    found.map((finding) => `${migration}:${finding}`),
  );
});
