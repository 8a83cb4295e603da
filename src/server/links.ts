import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import { newCredential, signInLink } from "../http/request/credentials.js";
import { operate } from "./operator.js";

/** A link that signs a browser in as this user. It works once, for five minutes. */
export async function makeSignInLink(sql: Sql, publicUrl: string, email: string) {
  const secret = newCredential("link");
  const made = await call(sql, "operator_create_sign_in_link", email, secret.hash);
  return { ...made, link: signInLink(publicUrl, secret) };
}

/** The same for whoever reads a terminal. */
export function linkInWords({ email, link }: { email: string; link: string }): string {
  return `svc-server: the console, signed in as ${email} (once, within five minutes): ${link}`;
}

/** How whoever started the service from a terminal opens its console: by a link where there is one user, who can be nobody else. */
export function consoleInWords(databaseUrl: string, publicUrl: string): Promise<string> {
  return operate(databaseUrl, async (sql) => {
    const users = JSON.parse(await call(sql, "operator_list_users")) as { email: string }[];
    const [first, second] = users;
    if (first === undefined)
      return "svc-server: nobody can sign in yet; make the first user: svc-server bootstrap --organization acme --email you@example.com";
    if (second === undefined) return linkInWords(await makeSignInLink(sql, publicUrl, first.email));
    return `svc-server: the console is at ${publicUrl}/console; svc-server users sign-in --email … makes a link that signs in`;
  });
}

/** Has links in deliveries lead here from now on: workers know no address. @param publicUrl without a slash at the end */
export function notePublicUrl(databaseUrl: string, publicUrl: string): Promise<unknown> {
  return operate(databaseUrl, (sql) => call(sql, "note_public_url", publicUrl));
}
