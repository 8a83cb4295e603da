// Every table, column and view says in the database what it is for.
import { nameOf } from "./source.js";

const RELATION_COMMENTS = ["OBJECT_TABLE", "OBJECT_COLUMN", "OBJECT_VIEW", "OBJECT_MATVIEW"];

/** A comment counts wherever it stands in these files: a table may be created in one and grow a column in another. */
export function checkComments(sources) {
  const commented = new Set(sources.flatMap(commentedNames));
  return sources.flatMap((source) =>
    relations(source).flatMap(({ kind, name, start }) =>
      commented.has(name) ? [] : [source.problem(start, `add a \`comment on ${kind} ${name}\``)],
    ),
  );
}

function commentedNames(source) {
  return source
    .ofKind("CommentStmt")
    .filter(({ node }) => RELATION_COMMENTS.includes(node.objtype) && node.comment)
    .map(({ node }) => nameOf(node.object.List.items));
}

function relations(source) {
  return [
    ...source.ofKind("CreateStmt").flatMap(createdTable),
    ...source.ofKind("AlterTableStmt").flatMap(addedColumns),
    ...source.ofKind("ViewStmt").map(({ node, start }) => ({ kind: "view", name: relationName(node.view), start })),
  ];
}

function createdTable({ node, start }) {
  const table = relationName(node.relation);
  const columns = (node.tableElts ?? []).filter(({ ColumnDef }) => ColumnDef).map(({ ColumnDef }) => ColumnDef);
  return [{ kind: "table", name: table, start }, ...columns.map((column) => columnOf(table, column))];
}

function addedColumns({ node }) {
  return node.cmds
    .filter(({ AlterTableCmd }) => AlterTableCmd.subtype === "AT_AddColumn")
    .map(({ AlterTableCmd }) => columnOf(relationName(node.relation), AlterTableCmd.def.ColumnDef));
}

function columnOf(table, { colname, location }) {
  return { kind: "column", name: `${table}.${colname}`, start: location };
}

function relationName({ schemaname, relname }) {
  return schemaname === undefined ? relname : `${schemaname}.${relname}`;
}
