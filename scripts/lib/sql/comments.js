// Every table, column and view needs a comment in the database that says what it is for.
import { nameOf } from "./source.js";

const RELATION_COMMENTS = ["OBJECT_TABLE", "OBJECT_COLUMN", "OBJECT_VIEW", "OBJECT_MATVIEW"];

/** A comment may be in any of these files: a table can be created in one and get a column in another. */
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
