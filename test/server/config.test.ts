import { describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../../src/server/config.js";

test("without any variable the service runs on the embedded database, on loopback", () => {
  expect(readConfig({})).toEqual({
    config: {
      databaseUrl: null,
      poolerUrl: null,
      dataDir: ".svc-data",
      host: "127.0.0.1",
      port: 4400,
      publicUrl: null,
      trustedProxies: 0,
      secret: null,
      metricsToken: null,
      docsUrl: null,
      webhookAllowPrivate: false,
      mail: null,
      ai: null,
      deliveryAttemptDays: 30,
      recomputeAttempts: 10,
      settleSeconds: 30,
      stopDelaySeconds: 0,
      logLevel: "info",
    },
    warnings: [],
  });
});

/** The settings from each variable, of some from two or three together. */
const READ: [variable: string, value: string, config?: object][] = [
  ["DATABASE_URL", "postgres://user:word@db/svc", { databaseUrl: "postgres://user:word@db/svc" }],
  ["SVC_POOLER_URL", "postgres://web:word@pooler:6432/svc", { poolerUrl: "postgres://web:word@pooler:6432/svc" }],
  ["SVC_DATA_DIR", "/var/lib/svc", { dataDir: "/var/lib/svc" }],
  ["SVC_HOST", "::", { host: "::" }],
  ["SVC_PORT", "0", { port: 0 }],
  ["SVC_PUBLIC_URL", "https://svc.example.com/", { publicUrl: "https://svc.example.com" }],
  ["SVC_TRUSTED_PROXIES", "2", { trustedProxies: 2 }],
  ["SVC_SECRET", "0123456789abcdef0123456789abcdef", { secret: "0123456789abcdef0123456789abcdef" }],
  ["SVC_METRICS_TOKEN", "scrape-the-figures", { metricsToken: "scrape-the-figures" }],
  ["SVC_DOCS_URL", "https://docs.example.com//", { docsUrl: "https://docs.example.com" }],
  ["SVC_WEBHOOK_ALLOW_PRIVATE", "1", { webhookAllowPrivate: true }],
  ["SVC_SMTP_URL", "smtps://mail:hunter2@smtp.example.com:465/"],
  ["SVC_MAIL_FROM", "Acme service <svc@example.com>"],
  ["SVC_AI_BASE_URL", "http://127.0.0.1:11434/v1"],
  ["SVC_AI_MODEL", "small", { ai: { baseUrl: "http://127.0.0.1:11434/v1", apiKey: null, model: "small" } }],
  ["SVC_DELIVERY_ATTEMPT_DAYS", "90", { deliveryAttemptDays: 90 }],
  ["SVC_RECOMPUTE_ATTEMPTS", "3", { recomputeAttempts: 3 }],
  ["SVC_SETTLE_SECONDS", "0", { settleSeconds: 0 }],
  ["SVC_STOP_DELAY_SECONDS", "5", { stopDelaySeconds: 5 }],
  ["LOG_LEVEL", "WARN", { logLevel: "warn" }],
];

test("every variable is read", () => {
  const mail = { url: "smtps://mail:hunter2@smtp.example.com:465", from: "Acme service <svc@example.com>" };
  const config: object = Object.assign({ mail }, ...READ.map(([, , made]) => made));
  expect(readConfig(Object.fromEntries(READ.map(([name, value]) => [name, value])))).toEqual({ config, warnings: [] });
});

test("an empty variable counts as not set", () => {
  expect(readConfig({ DATABASE_URL: "", SVC_PORT: " ", SVC_SECRET: "" }).config).toEqual(readConfig({}).config);
});

describe("a bad value stops the start", () => {
  test.each([
    ["DATABASE_URL", "mysql://user:word@db/svc", "DATABASE_URL must be a URL, postgres://… or postgresql://…"],
    [
      "DATABASE_URL",
      "postgres://user:word@db/svc?sslmode=no-verify",
      "DATABASE_URL has the sslmode `no-verify`; it is one of disable, prefer, require, verify-ca, verify-full",
    ],
    [
      "DATABASE_URL",
      "postgres://user:word@db/svc?sslmode=verify-ca",
      "DATABASE_URL has the sslmode `verify-ca` without sslrootcert, the file of the certificate authority; add it, or use verify-full",
    ],
    [
      "DATABASE_URL",
      "postgres://user:word@db/svc?sslmode=require&sslrootcert=system",
      "DATABASE_URL has the sslmode `require` with the system's certificate authorities (sslrootcert=system), which require verify-full",
    ],
    [
      "DATABASE_URL",
      "postgres://user:word@db/svc?ssl_mode=verify-full",
      "DATABASE_URL has a parameter `ssl_mode` that has no effect; correct it, or remove it: there are host, port, user, password, ssl, sslmode, sslrootcert, sslcert, sslkey, sslnegotiation, options",
    ],
    ["SVC_HOST", "localhost:80", "SVC_HOST must be an address or a host name without port, not `localhost:80`"],
    ["SVC_PORT", "65536", "SVC_PORT must be a whole number from 0 to 65535, not `65536`"],
    ["SVC_PORT", "0x10", "SVC_PORT must be a whole number from 0 to 65535, not `0x10`"],
    ["DATABASE_URL", "postgres://u:p#w@h/d", "DATABASE_URL contains #; in a user or password it is written %23"],
    [
      "DATABASE_URL",
      "postgres://u:100%@h/d",
      "DATABASE_URL contains a % on its own; in a user or password it is written %25",
    ],
    ["DATABASE_URL", "postgres://u:#w@h/d", "DATABASE_URL contains #; in a user or password it is written %23"],
    [
      "DATABASE_URL",
      "postgres://u:p/w@h/d",
      "DATABASE_URL cannot be read as a URL; in a user or password @, #, / and ? are written %40, %23, %2F and %3F",
    ],
    ["DATABASE_URL", "postgres://u:p@h1:1,h2:2/d", "DATABASE_URL must name one host, not a list"],
    ["DATABASE_URL", "postgres://u:p@h1,h2/d", "DATABASE_URL must name one host, not a list"],
    ["DATABASE_URL", "postgres:///d?host=h1,h2", "DATABASE_URL must name one host, not a list"],
    ["DATABASE_URL", "postgres://u:p@h:99999/d", "DATABASE_URL must have a port from 1 to 65535"],
    ["DATABASE_URL", "postgres://u:p@h:0/d", "DATABASE_URL must have a port from 1 to 65535"],
    ["DATABASE_URL", "postgres://u:p@h/d?port=99999", "DATABASE_URL must have a port from 1 to 65535"],
    [
      "DATABASE_URL",
      "postgres://u:p@/d?host=h&port=1",
      "DATABASE_URL has a user or a port without a host; write postgres://user:password@host:port/name, with a socket's directory as %2Frun%2Fpostgresql",
    ],
    ["SVC_SMTP_URL", "smtp://h:99999", "SVC_SMTP_URL must have a port from 1 to 65535"],
    ["SVC_SMTP_URL", "smtp://u:p#w@h", "SVC_SMTP_URL contains #; in a user or password it is written %23"],
    ["SVC_PUBLIC_URL", "svc.example.com", "SVC_PUBLIC_URL must be a URL, http://… or https://…"],
    ...["https://h/?a=b", "https://h/#top", "https://u:p@h", "https://h/?"].map((value) => [
      "SVC_PUBLIC_URL",
      value,
      "SVC_PUBLIC_URL must have no user, password, query or fragment: links are made by adding a path to it",
    ]),
    [
      "SVC_DOCS_URL",
      "https://h/?page=",
      "SVC_DOCS_URL must have no user, password, query or fragment: links are made by adding a path to it",
    ],
    ["SVC_TRUSTED_PROXIES", "11", "SVC_TRUSTED_PROXIES must be a whole number from 0 to 10, not `11`"],
    ["SVC_SECRET", "short", "SVC_SECRET must have at least 32 characters, it has 5"],
    ["SVC_METRICS_TOKEN", "x".repeat(15), "SVC_METRICS_TOKEN must have at least 16 characters, it has 15"],
    ["SVC_METRICS_TOKEN", "with space", "SVC_METRICS_TOKEN must consist of visible ASCII characters"],
    ["SVC_DOCS_URL", "file:///docs", "SVC_DOCS_URL must be a URL, http://… or https://…"],
    ["SVC_WEBHOOK_ALLOW_PRIVATE", "yes", "SVC_WEBHOOK_ALLOW_PRIVATE must be 1 or 0, not `yes`"],
    [
      "SVC_POOLER_URL",
      "postgres://web:word@pooler:6432/svc",
      "DATABASE_URL must be set when SVC_POOLER_URL is, to the database itself",
    ],
    ["SVC_SMTP_URL", "smtp://127.0.0.1", "SVC_MAIL_FROM must be set when SVC_SMTP_URL is"],
    ["SVC_SMTP_URL", "smtp.example.com:25", "SVC_SMTP_URL must be a URL, smtp://… or smtps://…"],
    ["SVC_MAIL_FROM", "svc@example.com", "SVC_SMTP_URL must be set when SVC_MAIL_FROM is"],
    ["SVC_MAIL_FROM", "nobody", "SVC_MAIL_FROM must be an address, alone or as `Name <address>`, not `nobody`"],
    [
      "SVC_MAIL_FROM",
      "a@b.c, d@e.f",
      "SVC_MAIL_FROM must be an address, alone or as `Name <address>`, not `a@b.c, d@e.f`",
    ],
    ["SVC_AI_BASE_URL", "http://127.0.0.1/v1", "SVC_AI_MODEL must be set when SVC_AI_BASE_URL is"],
    ["SVC_AI_MODEL", "small", "SVC_AI_BASE_URL must be set when SVC_AI_API_KEY or SVC_AI_MODEL is"],
    ["SVC_AI_BASE_URL", "nowhere", "SVC_AI_BASE_URL must be a URL, http://… or https://…"],
    ["SVC_RECOMPUTE_ATTEMPTS", "0", "SVC_RECOMPUTE_ATTEMPTS must be a whole number from 1 to 1000, not `0`"],
    ["SVC_DELIVERY_ATTEMPT_DAYS", "0", "SVC_DELIVERY_ATTEMPT_DAYS must be a whole number from 1 to 3650, not `0`"],
    ["SVC_SETTLE_SECONDS", "1.5", "SVC_SETTLE_SECONDS must be a whole number from 0 to 3600, not `1.5`"],
    ["SVC_STOP_DELAY_SECONDS", "301", "SVC_STOP_DELAY_SECONDS must be a whole number from 0 to 300, not `301`"],
    ["LOG_LEVEL", "loud", "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not `loud`"],
  ])("%s=%s", (name, value, problem) => {
    expect(() => readConfig({ [name]: value })).toThrow(new ConfigError([problem]));
  });

  test("all of them are reported at once, one line each", () => {
    expect(() => readConfig({ SVC_PORT: "a", LOG_LEVEL: "b" })).toThrow(/^SVC_PORT .*\nLOG_LEVEL .*$/);
  });

  test("without the value if it can contain a secret", () => {
    expect(() =>
      readConfig({ DATABASE_URL: "http://user:hunter2@db", SVC_SECRET: "hunter2", SVC_SMTP_URL: "http://u:hunter2@h" }),
    ).toThrow(expect.not.objectContaining({ message: expect.stringContaining("hunter2") }) as Error);
  });
});

test("an unknown name is warned about with the nearest known one, except a client's", () => {
  const client = { SVC_API_URL: "http://127.0.0.1:4400", HOME: "/" };
  const env = { SVC_PROT: "1", SVC_DATADIR: "x", SVC_UTTERLY_ELSE: "x", ...client };
  expect(readConfig(env).warnings).toEqual([
    "SVC_DATADIR is not a variable of this program; did you mean SVC_DATA_DIR?",
    "SVC_PROT is not a variable of this program; did you mean SVC_PORT?",
    "SVC_UTTERLY_ELSE is not a variable of this program",
  ]);
});

test("links to all addresses of the machine are warned about, unless the public address is set", () => {
  const warning =
    "links lead to the pages of this service at 0.0.0.0; set SVC_PUBLIC_URL to the address at which people reach it";
  const env = { SVC_HOST: "0.0.0.0", SVC_DOCS_URL: "https://docs.example.com" };
  expect(readConfig(env).warnings).toEqual([warning]);
  expect(readConfig({ ...env, SVC_PUBLIC_URL: "https://svc.example.com" }).warnings).toEqual([]);
});
