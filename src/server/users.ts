import { call } from "../db/api/call.js";
import { newLinkSecret, passwordLink } from "../http/request/credentials.js";
import { addressOf, ConfigError, publicUrlOf, type ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { asOperator, lookAsOperator } from "./operator.js";

interface User {
  userId: string;
  email: string;
  hasPassword: boolean;
  organizations: { slug: string; role: string }[];
  createdAt: string;
  /** Null where the password may have been set by somebody who has not the address. */
  emailVerifiedAt: string | null;
}

/** `svc-server users list`: every user with its organizations, one line each. */
export async function listUsersCommand(
  config: ServerConfig,
  logger: Logger,
  { json }: { json: boolean },
): Promise<void> {
  const document = await lookAsOperator(config, logger, (sql) => call(sql, "operator_list_users"));
  const lines = (JSON.parse(document) as User[]).map(({ email, hasPassword, organizations, emailVerifiedAt }) => {
    const roles = organizations.map(({ slug, role }) => `${slug}:${role}`).join(",");
    const verified = emailVerifiedAt === null ? "password, address not verified" : "password, address verified";
    return [email, roles === "" ? "-" : roles, hasPassword ? verified : "no password"].join("\t");
  });
  process.stdout.write(json ? `${document}\n` : lines.map((line) => `${line}\n`).join(""));
}

/** `svc-server users link`: a link by which a user sets a password, also the first one after `bootstrap`. */
export async function linkUserCommand(
  config: ServerConfig,
  logger: Logger,
  { email, json }: { email: string; json: boolean },
): Promise<void> {
  const publicUrl = linkBase(config);
  const secret = newLinkSecret();
  const document = await asOperator(config, logger, (sql) =>
    call(sql, "operator_create_password_link", email, secret.hash),
  );
  const made = JSON.parse(document) as { email: string; expiresAt: string };
  const link = passwordLink(publicUrl, secret);
  const text = [
    `# Whoever opens this link sets the password of ${made.email}. It works once, until ${made.expiresAt}:`,
    link,
    "",
  ].join("\n");
  process.stdout.write(json ? `${JSON.stringify({ ...made, link })}\n` : text);
}

/** Where people reach the service; this process does not listen, so it cannot ask for the port. */
function linkBase(config: ServerConfig): string {
  if (config.publicUrl === null && config.port === 0) {
    throw new ConfigError(["SVC_PUBLIC_URL must be set where SVC_PORT is 0: the link has to lead to the service"]);
  }
  return publicUrlOf(config, addressOf(config.host, config.port));
}
