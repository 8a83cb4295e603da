import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import { newCredential, signInLink } from "../http/request/credentials.js";
import { runAsOperator } from "./operator.js";

/** Creates a link that signs a browser in as this user. It works once, for five minutes. */
export async function makeSignInLink(sql: Sql, publicUrl: string, email: string) {
  const secret = newCredential("link");
  const made = await call(sql, "operator_create_sign_in_link", email, secret.hash);
  return { ...made, link: signInLink(publicUrl, secret) };
}

/** The line with a sign-in link for the terminal. */
export function linkInWords({ email, link }: { email: string; link: string }): string {
  return `svc-server: the console, signed in as ${email} (once, within five minutes): ${link}`;
}

/** Tells a person who started the service from a terminal how to open its console: by a sign-in link if there is only one user. */
export function consoleInWords(databaseUrl: string, publicUrl: string): Promise<string> {
  return runAsOperator(databaseUrl, async (sql) => {
    const users = JSON.parse(await call(sql, "operator_list_users")) as { email: string }[];
    const [first, second] = users;
    if (first === undefined)
      return "svc-server: nobody can sign in yet; create the first user: svc-server bootstrap --organization acme --email you@example.com";
    if (second === undefined) return linkInWords(await makeSignInLink(sql, publicUrl, first.email));
    return `svc-server: the console is at ${publicUrl}/console; svc-server users sign-in --email … makes a link that signs in`;
  });
}
