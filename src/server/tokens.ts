import { call } from "../db/api/call.js";
import { TOKEN_EXPIRES_IN_DAYS_MAX, type Role } from "../db/api/organization.js";
import { newAccessToken } from "../http/request/credentials.js";
import { ConfigError, type ServerConfig } from "./config.js";
import { asOperator, credentialsInWords, lookAsOperator } from "./operator.js";
import type { Logger } from "./log.js";

interface Token {
  id: string;
  label: string;
  role: Role | null;
  user: { id: string; email: string };
  createdAt: string;
  expiresAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/** `svc-server tokens list`: the headless tokens of an organization, newest first, one line each. */
export async function listTokensCommand(
  config: ServerConfig,
  logger: Logger,
  { organization, json }: { organization: string; json: boolean },
): Promise<void> {
  const document = await lookAsOperator(config, logger, (sql) => call(sql, "operator_list_tokens", organization));
  const lines = (JSON.parse(document) as Token[]).map((token) =>
    [token.id, token.label, token.role ?? "all", token.user.email, stateOf(token)].join("\t"),
  );
  process.stdout.write(json ? `${document}\n` : lines.map((line) => `${line}\n`).join(""));
}

function stateOf({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  return `${Date.parse(expiresAt) <= Date.now() ? "expired" : "expires"} ${expiresAt}`;
}

export interface CreateTokenOptions {
  organization: string;
  /** Of the member that it acts as; the oldest owner unless given. */
  email: string | undefined;
  label: string;
  /** The most it may do; all that its member may unless given. */
  role: Role | undefined;
  expiresInDays: number;
  json: boolean;
}

/** `svc-server tokens create`: a headless token, shown this once. */
export async function createTokenCommand(
  config: ServerConfig,
  logger: Logger,
  { organization, email, label, role, expiresInDays, json }: CreateTokenOptions,
): Promise<void> {
  await checkOptions(label, expiresInDays);
  const { text: accessToken, hash } = newAccessToken();
  const document = await asOperator(config, logger, (sql) =>
    call(sql, "operator_create_token", organization, email, label, role, expiresInDays, hash),
  );
  const { organizationId, token } = JSON.parse(document) as { organizationId: string; token: Token };
  process.stdout.write(
    json
      ? `${JSON.stringify({ organizationId, ...token, accessToken })}\n`
      : credentialsInWords({ organizationId, accessToken }),
  );
}

async function checkOptions(label: string, expiresInDays: number): Promise<void> {
  // Of what HTTP accepts; it takes long to load.
  const [{ Compile }, { displayName }] = await Promise.all([
    import("typebox/compile"),
    import("../http/admin/parameters.js"),
  ]);
  const problems = [
    ...(Compile(displayName).Check(label)
      ? []
      : [
          "--label must have 1 to 256 characters, none of which controls the terminal or changes the direction of text",
        ]),
    ...(Number.isInteger(expiresInDays) && expiresInDays >= 1 && expiresInDays <= TOKEN_EXPIRES_IN_DAYS_MAX
      ? []
      : [`--expires-in-days must be a whole number from 1 to ${TOKEN_EXPIRES_IN_DAYS_MAX}`]),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
}

/** `svc-server tokens revoke`: the token stops at once. */
export async function revokeTokenCommand(
  config: ServerConfig,
  logger: Logger,
  { tokenId, json }: { tokenId: string; json: boolean },
): Promise<void> {
  const document = await asOperator(config, logger, (sql) => call(sql, "operator_revoke_token", tokenId));
  const { id, label, revokedAt } = JSON.parse(document) as Token;
  process.stdout.write(json ? `${document}\n` : `${id} (${label}) was revoked at ${revokedAt}.\n`);
}
