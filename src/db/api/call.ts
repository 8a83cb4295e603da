import type { ClientBase } from "pg";
import type { PendingQuery, Sql, TransactionSql } from "postgres";
import { FUNCTIONS, type Parameter, type Signature } from "./functions.js";

export type FunctionName = keyof typeof FUNCTIONS;

type ValuesOf<Parameters> = {
  -readonly [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer Value> ? Value : never;
};

/** A function's arguments. */
export type ArgumentsOf<Name extends FunctionName> = ValuesOf<(typeof FUNCTIONS)[Name]["parameters"]>;

/** A function's result: a document as JSON text, unless its signature says otherwise. */
export type AnswerOf<Name extends FunctionName> =
  (typeof FUNCTIONS)[Name] extends Signature<infer _, infer Answer> ? Answer : never;

/** Calls a function of svc_api in one round trip. Throws the errors that the SQL function documents. */
export async function call<Name extends FunctionName>(
  sql: Sql | TransactionSql,
  name: Name,
  ...args: ArgumentsOf<Name>
): Promise<AnswerOf<Name>> {
  const [row] = await queryOf(sql, name, args);
  return row!.answer as AnswerOf<Name>;
}

/** As `call`, on a client of `pg`, which can copy rows in the same transaction. */
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

/** As `call`, with the answer in UTF-8, so that many megabytes are passed on without being decoded and encoded again. */
export async function callBytes<Name extends FunctionName>(
  sql: Sql | TransactionSql,
  name: Name,
  ...args: ArgumentsOf<Name>
) {
  const [row] = await queryOf(sql, name, args).raw();
  return row![0]!;
}

/** Each function's call as a template, created once: the driver keeps each template forever, by its identity. */
const templates = new Map<FunctionName, TemplateStringsArray>();

/** The driver's template tag, with any values. */
type Tag = (template: TemplateStringsArray, ...values: unknown[]) => PendingQuery<{ answer: unknown }[]>;

/** A query of one row with one column. */
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
