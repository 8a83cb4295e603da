import type { Sql } from "postgres";
import { newCredential } from "../../../src/http/request/credentials.js";
import { Browser } from "../../support/browser.js";

/** The value of the session cookie for an existing user. */
export async function startSession(sql: Sql, email: string): Promise<string> {
  const { text, hash } = newCredential("session");
  const [row] = await sql`
    insert into iam.sessions (session_hash, user_id, expires_at)
    select ${hash}, user_id, now() + interval '1 hour' from iam.users where email = ${email}
    returning 1`;
  if (row === undefined) throw new Error(`there is no user ${email}`);
  return text;
}

/** A browser with a signed-in user. */
export async function browserOf({ url, db }: { url: string; db: { sql: Sql } }, email: string): Promise<Browser> {
  const browser = new Browser(url);
  browser.cookies.set("svc_session", await startSession(db.sql, email));
  return browser;
}
