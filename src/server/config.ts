import { isIPv6 } from "node:net";
import { addressProblem, urlProblem } from "../db/address.js";
import { nearest } from "../model/snapshot/suggestion.js";

/** Roles of a process that `svc-server start` runs. */
export const PROCESS_ROLES = ["all", "http", "worker"] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The server's configuration, read from environment variables and validated; docs/configuration.md explains each variable. */
export type ServerConfig = ReturnType<typeof configOf>;

/** Variables of the `svc` command line and of authors' applications: ignored by the server, without a warning. */
const CLIENT_NAMES = [
  "SVC_API_URL",
  "SVC_ACCESS_TOKEN",
  "SVC_ORGANIZATION",
  "SVC_API_KEY",
  "SVC_API_KEY_TEST",
  "SVC_API_KEY_LIVE",
  "SVC_NO_AI",
];

/** Invalid configuration: one line for each invalid variable, in the order of the documentation. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
  }
}

type Environment = Record<string, string | undefined>;

/** Reads every variable, in the order of the documentation. */
const configOf = (reader: Reader) => ({
  /** Null: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: reader.database("DATABASE_URL"),
  /** The same database behind a pooler in transaction mode, for requests. Null: they use `databaseUrl`. */
  poolerUrl: reader.pooler(),
  dataDir: reader.text("SVC_DATA_DIR") ?? ".svc-data",
  host: reader.host("SVC_HOST") ?? "127.0.0.1",
  /** 0: any free port. */
  port: reader.integer("SVC_PORT", 0, 65_535) ?? 4400,
  /** Without a slash at the end. Null: the address it listens on. */
  publicUrl: reader.base("SVC_PUBLIC_URL"),
  /** Number of reverse proxies in front that append to X-Forwarded-For. */
  trustedProxies: reader.integer("SVC_TRUSTED_PROXIES", 0, 10) ?? 0,
  /** At least 32 characters. Null: the one kept in `dataDir` (src/server/secret.ts). */
  secret: reader.long("SVC_SECRET", 32),
  /** At least 16 characters. Null: nobody can read the metrics. */
  metricsToken: reader.token("SVC_METRICS_TOKEN", 16),
  /** Without a slash at the end; errors link to it. Null: the pages of the service itself (`docsUrlOf`). */
  docsUrl: reader.base("SVC_DOCS_URL"),
  webhookAllowPrivate: reader.flag("SVC_WEBHOOK_ALLOW_PRIVATE"),
  /** Days for which delivery attempts are kept. */
  deliveryAttemptDays: reader.integer("SVC_DELIVERY_ATTEMPT_DAYS", 1, 3650) ?? 30,
  /** Consecutive failures without progress after which a recompute is given up. */
  recomputeAttempts: reader.integer("SVC_RECOMPUTE_ATTEMPTS", 1, 1000) ?? 10,
  /** The mail server and the sender. Null: no mail is sent, and links are only shown to those who request them. */
  mail: reader.mail(),
  /** An OpenAI-compatible endpoint; null if none is set. */
  ai: reader.ai(),
  /** Seconds for which live evaluation waits for late events. */
  settleSeconds: reader.integer("SVC_SETTLE_SECONDS", 0, 3600) ?? 30,
  /** Seconds for which a stopping process fails readiness but still accepts requests. */
  stopDelaySeconds: reader.integer("SVC_STOP_DELAY_SECONDS", 0, 300) ?? 0,
  logLevel: reader.choice("LOG_LEVEL", LOG_LEVELS) ?? "info",
});

/**
 * Reads the server's variables; an empty one counts as not set. Throws ConfigError with all problems at once. `warnings` also
 * names unknown variables that begin with SVC_. Neither contains the value of a secret.
 */
export function readConfig(env: Environment): { config: ServerConfig; warnings: string[] } {
  const reader = new Reader(env);
  const config = configOf(reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  const warnings = [...unknownNames(env, reader.names), ...emptyDatabaseUrl(env), ...unreachableLinks(config)];
  return { config, warnings };
}

/** An empty DATABASE_URL often comes from a variable missing in the deployment; events would then go to an unexpected database. */
function emptyDatabaseUrl(env: Environment): string[] {
  const text = env["DATABASE_URL"];
  if (text === undefined || text.trim() !== "") return [];
  return ["DATABASE_URL is empty, so the embedded PostgreSQL in SVC_DATA_DIR is used; unset it if that is intended"];
}

/** Clients cannot follow links to an address that stands for all addresses of the machine. */
function unreachableLinks({ host, publicUrl }: ServerConfig): string[] {
  if (!/^(0\.0\.0\.0|::)$/.test(host) || publicUrl !== null) return [];
  return [
    `links lead to the pages of this service at ${host}; set SVC_PUBLIC_URL to the address at which people reach it`,
  ];
}

/** The address that errors link to: SVC_DOCS_URL, else the service's own pages. */
export function docsUrlOf(config: ServerConfig, address: string): string {
  return config.docsUrl ?? `${config.publicUrl ?? address}/docs`;
}

/** The URL of a host and port. */
export function addressOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** @param names of the variables that the server reads */
function unknownNames(env: Environment, names: Iterable<string>): string[] {
  const known = [...names, ...CLIENT_NAMES].filter((name) => name.startsWith("SVC_"));
  return Object.keys(env)
    .filter((name) => name.startsWith("SVC_") && !known.includes(name))
    .sort()
    .map((name) => {
      const guess = nearest(name, known);
      return `${name} is not a variable of this program${guess === undefined ? "" : `; did you mean ${guess}?`}`;
    });
}

/** Validates variables one by one and collects their problems. */
class Reader {
  readonly problems: string[] = [];
  /** The variables read so far, in the order of the documentation. */
  readonly names = new Set<string>();

  constructor(private readonly env: Environment) {}

  text(name: string): string | null {
    this.names.add(name);
    const value = this.env[name]?.trim();
    return value === undefined || value === "" ? null : value;
  }

  /** Without trailing slashes, so that a path can be appended. The error does not repeat the value: it may contain a password. */
  url(name: string, protocols: string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const wanted = protocols.map((protocol) => `${protocol}//…`).join(" or ");
    const isMeant = protocols.some((protocol) => value.toLowerCase().startsWith(protocol));
    const problem = isMeant ? urlProblem(value) : null;
    if (problem !== null) return this.#refuse(name, problem);
    if (!isMeant || !URL.canParse(value)) return this.#refuse(name, `must be a URL, ${wanted}`);
    return value.replace(/\/+$/, "");
  }

  /** An address that links begin with. */
  base(name: string): string | null {
    const url = this.url(name, ["http:", "https:"]);
    if (url === null) return null;
    const { username, password } = new URL(url);
    if (username === "" && password === "" && !/[?#]/.test(url)) return url;
    return this.#refuse(name, "must have no user, password, query or fragment: links are made by adding a path to it");
  }

  database(name: string): string | null {
    const url = this.url(name, ["postgres:", "postgresql:"]);
    const problem = url === null ? null : addressProblem(url);
    return problem === null ? url : this.#refuse(name, problem);
  }

  /** Requires DATABASE_URL, too: migrations and workers do not use the pooler. */
  pooler(): string | null {
    const url = this.database("SVC_POOLER_URL");
    if (url === null || this.text("DATABASE_URL") !== null) return url;
    return this.#refuse("DATABASE_URL", "must be set when SVC_POOLER_URL is, to the database itself");
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
    const choice = choices.find((each) => each === value.toLowerCase());
    return choice ?? this.#refuse(name, `must be one of ${choices.join(", ")}, not \`${value}\``);
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

  /** The error does not repeat the value, which is a secret. */
  long(name: string, lengthMin: number): string | null {
    const value = this.text(name);
    if (value === null || value.length >= lengthMin) return value;
    return this.#refuse(name, `must have at least ${lengthMin} characters, it has ${value.length}`);
  }

  /** Visible ASCII, because it is sent in a header. */
  token(name: string, lengthMin = 1): string | null {
    if (/^[\x21-\x7e]*$/.test(this.text(name) ?? "")) return this.long(name, lengthMin);
    return this.#refuse(name, "must consist of visible ASCII characters");
  }

  /** Server and sender must be set together. */
  mail(): { url: string; from: string } | null {
    const url = this.url("SVC_SMTP_URL", ["smtp:", "smtps:"]);
    const from = this.sender("SVC_MAIL_FROM");
    if (url !== null && from !== null) return { url, from };
    if (this.text("SVC_SMTP_URL") === null && from !== null) {
      return this.#refuse("SVC_SMTP_URL", "must be set when SVC_MAIL_FROM is");
    }
    if (url !== null && this.text("SVC_MAIL_FROM") === null) {
      return this.#refuse("SVC_MAIL_FROM", "must be set when SVC_SMTP_URL is");
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

  /** Address and model must be set together; the key is optional, for example for a local model server. */
  ai(): { baseUrl: string; apiKey: string | null; model: string } | null {
    const baseUrl = this.url("SVC_AI_BASE_URL", ["http:", "https:"]);
    const apiKey = this.token("SVC_AI_API_KEY");
    const model = this.text("SVC_AI_MODEL");
    if (baseUrl !== null && model !== null) return { baseUrl, apiKey, model };
    if (this.text("SVC_AI_BASE_URL") === null && (apiKey !== null || model !== null)) {
      return this.#refuse("SVC_AI_BASE_URL", "must be set when SVC_AI_API_KEY or SVC_AI_MODEL is");
    }
    if (baseUrl !== null) return this.#refuse("SVC_AI_MODEL", "must be set when SVC_AI_BASE_URL is");
    return null;
  }

  #refuse(name: string, problem: string): null {
    this.problems.push(`${name} ${problem}`);
    return null;
  }
}
