import { isIPv6 } from "node:net";
import { nearest } from "../model/snapshot/problem.js";

/** What a process of `svc-server start` does. */
export const ROLES = ["all", "http", "worker"] as const;
export type ProcessRole = (typeof ROLES)[number];

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** What the server was told by its environment, checked; see docs for each variable's meaning. */
export interface ServerConfig {
  /** Null: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null;
  /** The same database behind a pooler in transaction mode, for requests. Null: they use `databaseUrl`. */
  poolerUrl: string | null;
  dataDir: string;
  host: string;
  /** 0: any free one. */
  port: number;
  /** Without a slash at the end. Null: the address it listens on. */
  publicUrl: string | null;
  /** How many reverse proxies stand in front and append to X-Forwarded-For. */
  trustedProxies: number;
  /** At least 32 characters. Null: the one kept in `dataDir` (src/server/secret.ts). */
  secret: string | null;
  /** At least 16 characters. Null: nobody may see the figures. */
  metricsToken: string | null;
  /** Without a slash at the end; errors link to it. Null: the pages of the service itself (`docsUrlOf`). */
  docsUrl: string | null;
  webhookAllowPrivate: boolean;
  /** How long attempts to deliver are kept. */
  deliveryAttemptDays: number;
  /** Failures of a recompute in a row, without getting further, after which it is given up. */
  recomputeAttempts: number;
  /** The server that takes mail, and who it is from; null: links are only shown to who asks for them. */
  mail: { url: string; from: string } | null;
  /** An OpenAI-compatible endpoint; null where none is set. */
  ai: { baseUrl: string; apiKey: string | null; model: string } | null;
  /** How long readiness fails, and requests are still taken, before a process that is told to stop takes no more. */
  stopDelaySeconds: number;
  /** How long live evaluation waits for events that are still under way. */
  settleSeconds: number;
  logLevel: LogLevel;
}

/** Of the `svc` command line and of authors' applications: no business of the server, but no mistake either. */
const CLIENT_NAMES = [
  "SVC_API_URL",
  "SVC_ACCESS_TOKEN",
  "SVC_ORGANIZATION",
  "SVC_API_KEY",
  "SVC_API_KEY_TEST",
  "SVC_API_KEY_LIVE",
  "SVC_NO_AI",
];
const SERVER_NAMES = [
  "SVC_POOLER_URL",
  "SVC_DATA_DIR",
  "SVC_HOST",
  "SVC_PORT",
  "SVC_PUBLIC_URL",
  "SVC_TRUSTED_PROXIES",
  "SVC_SECRET",
  "SVC_METRICS_TOKEN",
  "SVC_DOCS_URL",
  "SVC_WEBHOOK_ALLOW_PRIVATE",
  "SVC_DELIVERY_ATTEMPT_DAYS",
  "SVC_RECOMPUTE_ATTEMPTS",
  "SVC_SMTP_URL",
  "SVC_MAIL_FROM",
  "SVC_AI_BASE_URL",
  "SVC_AI_API_KEY",
  "SVC_AI_MODEL",
  "SVC_SETTLE_SECONDS",
  "SVC_STOP_DELAY_SECONDS",
];

const SECRET_LENGTH_MIN = 32;
const METRICS_TOKEN_LENGTH_MIN = 16;
const SETTLE_SECONDS_MAX = 3600;
const STOP_DELAY_SECONDS_MAX = 300;
const ATTEMPT_DAYS_MAX = 3650;
const RECOMPUTE_ATTEMPTS_MAX = 1000;
const TRUSTED_PROXIES_MAX = 10;

/** One line for every variable that has a bad value, in the order of the documentation. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
  }
}

type Environment = Record<string, string | undefined>;

/**
 * Reads the server's variables; an empty one counts as not set. Throws ConfigError with all that is wrong at once. `warnings`
 * names variables that look like ours and are not. Values of secrets appear in neither.
 */
export function readConfig(env: Environment): { config: ServerConfig; warnings: string[] } {
  const reader = new Reader(env);
  const config: ServerConfig = {
    databaseUrl: reader.url("DATABASE_URL", ["postgres:", "postgresql:"]),
    poolerUrl: reader.pooler(),
    dataDir: reader.text("SVC_DATA_DIR") ?? ".svc-data",
    host: reader.host("SVC_HOST") ?? "127.0.0.1",
    port: reader.integer("SVC_PORT", 0, 65_535) ?? 4400,
    publicUrl: reader.url("SVC_PUBLIC_URL", ["http:", "https:"]),
    trustedProxies: reader.integer("SVC_TRUSTED_PROXIES", 0, TRUSTED_PROXIES_MAX) ?? 0,
    secret: reader.secret("SVC_SECRET"),
    metricsToken: reader.token("SVC_METRICS_TOKEN", METRICS_TOKEN_LENGTH_MIN),
    docsUrl: reader.url("SVC_DOCS_URL", ["http:", "https:"]),
    webhookAllowPrivate: reader.flag("SVC_WEBHOOK_ALLOW_PRIVATE"),
    deliveryAttemptDays: reader.integer("SVC_DELIVERY_ATTEMPT_DAYS", 1, ATTEMPT_DAYS_MAX) ?? 30,
    recomputeAttempts: reader.integer("SVC_RECOMPUTE_ATTEMPTS", 1, RECOMPUTE_ATTEMPTS_MAX) ?? 10,
    mail: reader.mail(),
    ai: reader.ai(),
    settleSeconds: reader.integer("SVC_SETTLE_SECONDS", 0, SETTLE_SECONDS_MAX) ?? 30,
    stopDelaySeconds: reader.integer("SVC_STOP_DELAY_SECONDS", 0, STOP_DELAY_SECONDS_MAX) ?? 0,
    logLevel: reader.choice("LOG_LEVEL", LOG_LEVELS) ?? "info",
  };
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return { config, warnings: [...unknownNames(env), ...emptyDatabaseUrl(env), ...unreachableLinks(config)] };
}

/** As a deployment has it whose own variable is missing: events would go where nobody looks for them. */
function emptyDatabaseUrl(env: Environment): string[] {
  const text = env["DATABASE_URL"];
  if (text === undefined || text.trim() !== "") return [];
  return ["DATABASE_URL is empty, so the embedded PostgreSQL in SVC_DATA_DIR is used; unset it if that is meant"];
}

/** An address that stands for all of the machine's is none that a client can follow. */
function unreachableLinks({ host, publicUrl }: ServerConfig): string[] {
  if (!/^(0\.0\.0\.0|::)$/.test(host) || publicUrl !== null) return [];
  return [`links lead to the pages of this service at ${host}; set SVC_PUBLIC_URL to where people reach it`];
}

/** Where errors link to: SVC_DOCS_URL, else the service's own pages. */
export function docsUrlOf(config: ServerConfig, address: string): string {
  return config.docsUrl ?? `${publicUrlOf(config, address)}/docs`;
}

/** What listens at a host and port. */
export function addressOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Where people reach the service: SVC_PUBLIC_URL, else the `address` it listens on. */
export function publicUrlOf({ publicUrl }: ServerConfig, address: string): string {
  return publicUrl ?? address;
}

function unknownNames(env: Environment): string[] {
  const known = [...SERVER_NAMES, ...CLIENT_NAMES];
  return Object.keys(env)
    .filter((name) => name.startsWith("SVC_") && !known.includes(name))
    .sort()
    .map((name) => {
      const guess = nearest(name, known);
      return `${name} is not a variable of this program${guess === undefined ? "" : `; did you mean ${guess}?`}`;
    });
}

/** Checks variables one by one and keeps what is wrong with them. */
class Reader {
  readonly problems: string[] = [];

  constructor(private readonly env: Environment) {}

  text(name: string): string | null {
    const value = this.env[name]?.trim();
    return value === undefined || value === "" ? null : value;
  }

  /** Without the slashes at its end, so that a path can be appended. Never repeated in the error: it may hold a password. */
  url(name: string, protocols: string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const wanted = protocols.map((protocol) => `${protocol}//…`).join(" or ");
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      return this.#refuse(name, `must be a URL, ${wanted}`);
    }
    return value.replace(/\/+$/, "");
  }

  /** Beside the database, which is migrated and worked on without it. */
  pooler(): string | null {
    const url = this.url("SVC_POOLER_URL", ["postgres:", "postgresql:"]);
    if (url === null || this.text("DATABASE_URL") !== null) return url;
    return this.#refuse("DATABASE_URL", "must be set where SVC_POOLER_URL is, to the database itself");
  }

  integer(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    return this.#refuse(name, `must be a whole number from ${min} to ${max}, not \`${value}\``);
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | null {
    const value = this.text(name);
    if (value === null) return null;
    const found = choices.find((choice) => choice === value.toLowerCase());
    return found ?? this.#refuse(name, `must be one of ${choices.join(", ")}, not \`${value}\``);
  }

  flag(name: string): boolean {
    const value = this.text(name);
    if (value === null || value === "0") return false;
    if (value === "1") return true;
    this.#refuse(name, `must be 1 or 0, not \`${value}\``);
    return false;
  }

  host(name: string): string | null {
    const value = this.text(name);
    if (value === null) return null;
    if (isIPv6(value) || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value)) return value;
    return this.#refuse(name, `must be an address or a host name without port, not \`${value}\``);
  }

  secret(name: string): string | null {
    const value = this.text(name);
    if (value === null || value.length >= SECRET_LENGTH_MIN) return value;
    return this.#refuse(name, `must have at least ${SECRET_LENGTH_MIN} characters, it has ${value.length}`);
  }

  /** Sent in a header, so visible ASCII. */
  token(name: string, lengthMin = 1): string | null {
    const value = this.text(name);
    if (value === null) return null;
    if (!/^[\x21-\x7e]+$/.test(value)) return this.#refuse(name, "must consist of visible ASCII characters");
    if (value.length >= lengthMin) return value;
    return this.#refuse(name, `must have at least ${lengthMin} characters, it has ${value.length}`);
  }

  /** Server and sender go together. */
  mail(): ServerConfig["mail"] {
    const url = this.url("SVC_SMTP_URL", ["smtp:", "smtps:"]);
    const from = this.sender("SVC_MAIL_FROM");
    if (url !== null && from !== null) return { url, from };
    if (this.text("SVC_SMTP_URL") === null && from !== null) {
      return this.#refuse("SVC_SMTP_URL", "must be set where SVC_MAIL_FROM is");
    }
    if (url !== null && this.text("SVC_MAIL_FROM") === null) {
      return this.#refuse("SVC_MAIL_FROM", "must be set where SVC_SMTP_URL is");
    }
    return null;
  }

  /** `svc@example.com`, or `Acme service <svc@example.com>`. */
  sender(name: string): string | null {
    const value = this.text(name);
    const [, named = value] = /^[^\p{Cc}<>"]+ <(.*)>$/u.exec(value ?? "") ?? [];
    if (named === null || /^[^\s@<>",;]+@[^\s@<>",;]+$/.test(named)) return value;
    return this.#refuse(name, `must be an address, alone or as \`Name <address>\`, not \`${value}\``);
  }

  /** Address and model go together; the key is optional, as for a model server on one's own machine. */
  ai(): ServerConfig["ai"] {
    const baseUrl = this.url("SVC_AI_BASE_URL", ["http:", "https:"]);
    const apiKey = this.token("SVC_AI_API_KEY");
    const model = this.text("SVC_AI_MODEL");
    if (baseUrl !== null && model !== null) return { baseUrl, apiKey, model };
    if (this.text("SVC_AI_BASE_URL") === null && (apiKey !== null || model !== null)) {
      return this.#refuse("SVC_AI_BASE_URL", "must be set where SVC_AI_API_KEY or SVC_AI_MODEL is");
    }
    if (baseUrl !== null) return this.#refuse("SVC_AI_MODEL", "must be set where SVC_AI_BASE_URL is");
    return null;
  }

  #refuse(name: string, problem: string): null {
    this.problems.push(`${name} ${problem}`);
    return null;
  }
}
