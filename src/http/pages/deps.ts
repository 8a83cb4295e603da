import type { Logger } from "pino";
import type { Sql } from "postgres";

/** What the pages need. */
export interface PageDeps {
  sql: Sql;
  /** Where browsers reach the service: SVC_PUBLIC_URL, else the address it listens on. Without a slash at the end. */
  publicUrl: () => string;
  /** SVC_PUBLIC_URL is not set, so that a browser may have come by any name of this host. */
  anyHost: boolean;
  /** Of `formKey`: signs the tokens of forms. */
  key: Buffer;
  log: Logger;
}

/** Whether browsers reach the service by TLS only, so that cookies can be bound to that. */
export function isSecure({ publicUrl }: PageDeps): boolean {
  return new URL(publicUrl()).protocol === "https:";
}
