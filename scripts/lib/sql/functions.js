// One function, or one trigger with its function, per file: named as the file, and with a header comment.
import path from "node:path";
import { nameOf } from "./source.js";

const HEADER_LINES_MIN = 2;
const HEADER_LINES_MAX = 8;
const VOLATILITIES = "immutable, stable or volatile";

export function checkFunctionFile(source) {
  const functions = source.ofKind("CreateFunctionStmt");
  const aggregates = source.ofKind("DefineStmt").filter(({ node }) => node.kind === "OBJECT_AGGREGATE");
  const all = [...functions, ...aggregates];
  const problems = checkHeader(source);
  if (all.length !== 1)
    problems.push(source.problem(all[1]?.start ?? 0, `one function per file; here are ${all.length}`));
  for (const { node, start } of all) {
    const name = nameOf(node.funcname ?? node.defnames);
    const file = `${name.split(".").at(-1)}.sql`;
    if (all.length === 1 && file !== path.posix.basename(source.name)) {
      problems.push(source.problem(start, `the function is \`${name}\`; name the file ${file}`));
    }
  }
  problems.push(...functions.flatMap((statement) => checkFunction(source, statement)));
  problems.push(...aggregates.flatMap((statement) => checkAggregate(source, statement)));
  return problems;
}

/** A trigger file contains the trigger and, usually, the function that only this trigger calls. */
export function checkTriggerFile(source) {
  const triggers = source.ofKind("CreateTrigStmt");
  const problems = checkHeader(source);
  if (triggers.length !== 1) {
    problems.push(source.problem(triggers[1]?.start ?? 0, `one trigger per file; here are ${triggers.length}`));
  }
  for (const statement of source.ofKind("CreateFunctionStmt")) {
    problems.push(...checkFunction(source, statement));
    const name = nameOf(statement.node.funcname).split(".").at(-1);
    if (name !== `tg_${baseName(source)}`) {
      problems.push(
        source.problem(statement.start, `name the trigger's function \`tg_${baseName(source)}\`, after the file`),
      );
    }
  }
  for (const statement of triggers) problems.push(...checkTrigger(source, statement));
  return problems;
}

function checkTrigger(source, { node, start }) {
  const problems = [];
  const purpose = /^_\d{3}_(.+)$/.exec(node.trigname)?.[1];
  if (purpose === undefined) {
    problems.push(
      source.problem(start, `begin the trigger's name with a number that fixes firing order: _500_${node.trigname}`),
    );
  }
  if (purpose !== undefined && baseName(source) !== `${node.relation.relname}__${purpose}`) {
    problems.push(
      source.problem(start, `name the file ${node.relation.relname}__${purpose}.sql, after table and trigger`),
    );
  }
  if (!node.replace) problems.push(source.problem(start, replaceMessage("trigger")));
  const name = [node.relation.schemaname, node.relation.relname, node.trigname]
    .filter((part) => part !== undefined)
    .join(".");
  if (!commentedNames(source, "OBJECT_TRIGGER").includes(name)) {
    problems.push(source.problem(start, `add a \`comment on trigger ${node.trigname}\``));
  }
  return problems;
}

function checkFunction(source, { node, start }) {
  const name = nameOf(node.funcname);
  const kind = node.is_procedure ? "procedure" : "function";
  const problems = [];
  const rule = (kept, message) => {
    if (!kept) problems.push(source.problem(start, message));
  };
  rule(node.replace, replaceMessage(kind));
  rule(node.is_procedure || option(node, "volatility"), `\`${name}\` does not say whether it is ${VOLATILITIES}`);
  // A procedure that commits may have neither setting in PostgreSQL; it then has only the caller's rights.
  if (!node.is_procedure) {
    rule(
      !name.startsWith("svc_api.") || isDefiner(node),
      `\`${name}\` is in svc_api and has to be \`security definer\``,
    );
    rule(hasSafePath(node), `\`${name}\` needs \`set search_path = ''\``);
  }
  const commented = commentedNames(source, node.is_procedure ? "OBJECT_PROCEDURE" : "OBJECT_FUNCTION");
  rule(commented.includes(name), `add a \`comment on ${kind} ${name}\``);
  return problems;
}

/** An aggregate has no body, hence neither volatility nor search path. */
function checkAggregate(source, { node, start }) {
  const name = nameOf(node.defnames);
  const problems = [];
  if (!node.replace) problems.push(source.problem(start, replaceMessage("aggregate")));
  if (!commentedNames(source, "OBJECT_AGGREGATE").includes(name)) {
    problems.push(source.problem(start, `add a \`comment on aggregate ${name}\``));
  }
  return problems;
}

function checkHeader(source) {
  const lines = source.text.split("\n");
  const header = lines.findIndex((line) => !line.startsWith("--"));
  const count = header === -1 ? lines.length : header;
  if (count >= HEADER_LINES_MIN && count <= HEADER_LINES_MAX) return [];
  const promise = "what it is for, the errors it raises, the locks it takes";
  const message = `start with a comment of ${HEADER_LINES_MIN} to ${HEADER_LINES_MAX} lines (${promise}); here are ${count}`;
  return [source.problem(0, message)];
}

function option(node, name) {
  return node.options?.find(({ DefElem }) => DefElem.defname === name)?.DefElem;
}

function isDefiner(node) {
  return option(node, "security")?.arg.Boolean.boolval === true;
}

/**
 * Names in a `return …` or `begin atomic` body are bound when the function is created, so no search path can redirect them, and without the
 * setting the planner can inline it. A `security definer` function needs the setting nevertheless.
 */
function hasSafePath(node) {
  if (node.sql_body && !isDefiner(node)) return true;
  const settings = (node.options ?? []).map(({ DefElem }) => DefElem).filter(({ defname }) => defname === "set");
  const path = settings.map(({ arg }) => arg.VariableSetStmt).find((setting) => setting.name === "search_path");
  return path?.args?.length === 1 && path.args[0].A_Const?.sval !== undefined && !path.args[0].A_Const.sval.sval;
}

function commentedNames(source, type) {
  return source
    .ofKind("CommentStmt")
    .filter(({ node }) => node.objtype === type && node.comment)
    .map(({ node }) => nameOf(node.object.ObjectWithArgs?.objname ?? node.object.List.items));
}

function replaceMessage(kind) {
  return `write \`create or replace ${kind}\`: the file is applied again after every migration`;
}

function baseName(source) {
  return path.posix.basename(source.name, ".sql");
}
