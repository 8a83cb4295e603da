import type { Column } from "./table.js";
import { distance, number } from "./text.js";

/** A common problem as the service tells it; with `--json` it is printed as it is. */
export interface Finding {
  code: string;
  severity: "problem" | "warning" | "info";
  /** A sentence. */
  message: string;
  /** What to do, in sentences. */
  fix: string;
  /** How much of it there is. */
  count: number;
  /** What helps to find it: numbers and texts, and lists of names or of documents. */
  details: Record<string, unknown>;
}

type Row = Record<string, unknown>;

/** A list of a finding's details: names, or rows of a table. */
export type DetailList = { names: string[] } | { rows: Row[] };

/** The lists of a finding that have anything in them. */
export function listsOf({ details }: Finding): DetailList[] {
  return Object.values(details)
    .filter((list): list is unknown[] => Array.isArray(list) && list.length > 0)
    .map((list) => (list.every(isRow) ? { rows: list } : { names: list.map(String) }));
}

/** A column for each member of the rows; instants as how long ago they were. */
export function columnsOf(rows: readonly Row[], now: number): Column<Row>[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => {
    const values = rows.map((row) => row[name]);
    return {
      title: titleOf(name),
      value: (row) => inWords(name, row[name], now),
      ...(values.every((value) => typeof value === "number") ? { align: "right" as const, fixed: true as const } : {}),
    };
  });
}

function isRow(item: unknown): item is Row {
  return typeof item === "object" && item !== null && !Array.isArray(item);
}

/** `lastSeenAt` as `Last seen at`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function inWords(name: string, value: unknown, now: number): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return number(value);
  if (typeof value !== "string") {
    const parts = Object.entries(value).map(([member, part]) => inWords(member, part, now));
    return parts.filter((part) => part !== "").join(", ");
  }
  return name === "at" || name.endsWith("At") ? distance(value, now) : value;
}
