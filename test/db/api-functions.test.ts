import type { Sql } from "postgres";
import { expect, it } from "vitest";
import { FUNCTIONS } from "../../src/db/api/functions.js";
import { useDatabase } from "../support/database.js";

interface Declared {
  name: string;
  /** The names of its parameters, in order. */
  args: string[];
  answersJson: boolean;
}

const db = await useDatabase();

const declaredIn = (sql: Sql) => sql<Declared[]>`
  select proname as name, coalesce(proargnames[1:pronargs], '{}') as args, prorettype = 'json'::regtype as "answersJson"
  from pg_proc where pronamespace = 'svc_api'::regnamespace and prokind = 'f'`;

it("each listed function exists in svc_api, with these arguments in this order", async () => {
  const declared = new Map((await declaredIn(db.sql)).map(({ name, args }) => [name, args]));
  const used = Object.entries(FUNCTIONS).map(([name, { parameters }]) => [
    name,
    parameters.flatMap(({ names }) => [...names]),
  ]);
  expect(used).toEqual(Object.keys(FUNCTIONS).map((name) => [name, declared.get(name)]));
});

it("results that are passed on as text are JSON in the database", async () => {
  const json = new Set((await declaredIn(db.sql)).filter(({ answersJson }) => answersJson).map(({ name }) => name));
  const texts = Object.entries(FUNCTIONS).filter(([, { isText }]) => isText);
  expect(texts.map(([name]) => name).filter((name) => !json.has(name))).toEqual([]);
});

it("each parameter has as many values as names", () => {
  // A proxy that has every member.
  const anything = new Proxy({}, { get: () => anything }) as never;
  for (const [name, { parameters }] of Object.entries(FUNCTIONS)) {
    for (const { names, values } of parameters) expect(values(anything), name).toHaveLength(names.length);
  }
});
