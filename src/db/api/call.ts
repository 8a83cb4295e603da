import type { ClientBase } from "pg";
import type { PendingQuery, Sql, TransactionSql } from "postgres";
import { FUNCTIONS, type Parameter, type Signature } from "./functions.js";

export type FunctionName = keyof typeof FUNCTIONS;

type ValuesOf<Parameters> = {
  -readonly [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer Value> ? Value : never;
};

/** What a function is called with. */
export type ArgumentsOf<Name extends FunctionName> = ValuesOf<(typeof FUNCTIONS)[Name]["parameters"]>;

/** What it answers: unless its signature says something else, a document as JSON text. */
export type AnswerOf<Name extends FunctionName> =
  (typeof FUNCTIONS)[Name] extends Signature<infer _, infer Answer> ? Answer : never;

/** Calls a function of svc_api in one round trip. Throws the errors that the function names. */
export async function call<Name extends FunctionName>(
  sql: Sql | TransactionSql,
  name: Name,
  ...args: ArgumentsOf<Name>
): Promise<AnswerOf<Name>> {
  const [row] = await queryOf(sql, name, args);
  return row!.answer as AnswerOf<Name>;
}

/** As `call`, on a client of `pg`, which copies rows in the same transaction. */
export async function callOn<Name extends FunctionName>(
  client: ClientBase,
  name: Name,
  ...args: ArgumentsOf<Name>
): Promise<AnswerOf<Name>> {
  const template = templateOf(name);
  const text = template.reduce((before, part, index) => `${before}$${index}${part}`);
  const { rows } = await client.query<{ answer: AnswerOf<Name> }>(text, valuesOf(name, args));
  return rows[0]!.answer;
}

/** As `call`, with the answer in UTF-8: what may be many megabytes is passed on, not decoded and encoded again. */
export async function callBytes<Name extends FunctionName>(
  sql: Sql | TransactionSql,
  name: Name,
  ...args: ArgumentsOf<Name>
) {
  const [row] = await queryOf(sql, name, args).raw();
  return row![0]!;
}

/** The text of each function's call: the driver keeps each text that it is given for ever, by its identity. */
const templates = new Map<FunctionName, TemplateStringsArray>();

/** A template as the driver takes it, with any values. */
type Tag = (template: TemplateStringsArray, ...values: unknown[]) => PendingQuery<{ answer: unknown }[]>;

/** It answers one row, of one column. */
function queryOf(sql: Sql | TransactionSql, name: FunctionName, args: readonly unknown[]) {
  const values = valuesOf(name, args);
  let template = templates.get(name);
  if (template === undefined) templates.set(name, (template = templateOf(name)));
  return (sql as Tag)(template, ...values);
}

function valuesOf(name: FunctionName, args: readonly unknown[]): unknown[] {
  const { parameters }: Signature = FUNCTIONS[name];
  return parameters.flatMap((parameter, index) => parameter.values(args[index] as never));
}

function templateOf(name: FunctionName): TemplateStringsArray {
  const { parameters, isText }: Signature = FUNCTIONS[name];
  const [begin, end] = [`select svc_api.${name}(`, `)${isText ? "::text" : ""} as answer`];
  const suffixes = parameters.flatMap(({ names, suffix = "" }) => names.map(() => suffix));
  const last = suffixes.pop();
  const strings = last === undefined ? [begin + end] : [begin, ...suffixes.map((suffix) => `${suffix}, `), last + end];
  return Object.assign(strings, { raw: strings });
}
