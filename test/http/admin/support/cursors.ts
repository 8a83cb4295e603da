import type { Sql } from "postgres";

/** A list's cursor for a position, which can be one that the list never returns. */
export async function cursorOf(sql: Sql, list: string, position: unknown): Promise<string> {
  const [row] = await sql<[{ cursor: string }]>`select svc.encode_cursor(${list}, ${String(position)}) as cursor`;
  return row.cursor;
}

/** The list's name, with which its cursors begin. */
export async function listOf(sql: Sql, cursor: string): Promise<string> {
  const bytes = Buffer.from(cursor, "base64url");
  const [row] = await sql<[{ plain: Buffer }]>`
    select svc.apply_keystream(${bytes.subarray(16)}, ${bytes.subarray(0, 16)}, k.secret) as plain from svc.cursor_secret as k`;
  return (JSON.parse(row.plain.toString()) as [string])[0];
}
