import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { failure, UsageError, type UserError } from "./errors.js";
import type { Io } from "../output/out.js";
import type { Session, SessionStore } from "../client/session.js";
import { isObject, isWord, localTime } from "../../words/text.js";

export const ENVIRONMENTS = ["test", "live"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

const DEFAULT_API_URL = "http://127.0.0.1:4400";
const CONFIG_FILE = path.join(".kite", "config.json");

/** The API's rule, so that a slug it would refuse is reported before any request or question. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const SLUG_LENGTH_MAX = 63;

/** What to give instead of a wrong project slug; undefined if the slug is valid. */
export function slugMistake(slug: string): string | undefined {
  if (SLUG.test(slug)) return undefined;
  return `give 1 to ${SLUG_LENGTH_MAX} lower-case letters, digits and hyphens, not a hyphen first`;
}

/** The contents of `.kite/config.json`; an absent file counts as empty. */
interface ConfigFile {
  project?: string;
  defaultEnvironment?: Environment;
  apiUrl?: string;
  /** An id. */
  organization?: string;
}

/** Settings given on the command line; they override environment variables, which override the file. */
type Overrides = Partial<Record<"directory" | "environment" | "project", string | undefined>>;

/** A token and the organization it acts for, and where each was found, which decides the advice after a refusal. */
export interface Credentials {
  accessToken: string;
  /** Its id; absent for the few requests that concern no organization. */
  organization?: string;
  /** Absent if the token comes from SVC_ACCESS_TOKEN. */
  session?: Session;
  organizationFrom: "variable" | "file" | "session";
}

/**
 * A command's target service, credentials, project and environment. Each is looked up lazily: a setting that a command does not need cannot
 * fail it.
 */
export class Settings {
  readonly sessions: SessionStore;
  readonly #io: Io;
  readonly #overrides: Overrides;
  #file: ConfigFile | undefined;

  constructor(io: Io, sessions: SessionStore, overrides: Overrides) {
    this.sessions = sessions;
    this.#io = io;
    this.#overrides = overrides;
  }

  /** The absolute path of the project's folder, whether or not it exists. */
  get location(): string {
    return path.resolve(this.#io.cwd, this.#overrides.directory ?? ".");
  }

  get directory(): string {
    const directory = this.location;
    if (!existsSync(directory)) throw invalid(`there is no directory ${directory}`, "correct --directory");
    return directory;
  }

  /** The base URL of the API, without a trailing slash. */
  get apiUrl(): string {
    const variable = this.#variable("SVC_API_URL");
    if (variable !== undefined) return httpUrl(variable, "SVC_API_URL");
    return httpUrl(this.#config.apiUrl ?? DEFAULT_API_URL, `"apiUrl" of ${CONFIG_FILE}`);
  }

  /** Whether the API is at the default address. */
  get isDefaultApi(): boolean {
    return this.apiUrl === DEFAULT_API_URL;
  }

  get environment(): Environment {
    // The command-line parser accepts only these two.
    return (this.#overrides.environment as Environment | undefined) ?? this.#config.defaultEnvironment ?? "test";
  }

  get project(): string {
    const { project: given } = this.#overrides;
    const mistake = given === undefined ? undefined : slugMistake(given);
    if (mistake !== undefined)
      throw new UsageError(`--project is not a valid project slug: ${JSON.stringify(given)}`, mistake);
    const project = given ?? this.#config.project;
    if (project !== undefined) return project;
    const message = `no project was given, neither by --project nor by "project" of ${CONFIG_FILE}`;
    const fix = "run the command in a project's directory, or add --project <slug>";
    throw failure("PROJECT_REQUIRED", message, fix);
  }

  /** Where a change will be made, for the confirmation question. */
  get place(): string {
    return `${this.environment} of project ${this.project} at ${this.apiUrl}`;
  }

  /** Whether SVC_ACCESS_TOKEN is set, which takes precedence over any session. */
  get hasTokenVariable(): boolean {
    return this.#variable("SVC_ACCESS_TOKEN") !== undefined;
  }

  /** The credentials to act with. @throws {UserError} NOT_SIGNED_IN, ORGANIZATION_REQUIRED, and failures to read them */
  credentials(): Credentials {
    const accessToken = this.#header("SVC_ACCESS_TOKEN");
    const session = accessToken === undefined ? this.#session() : undefined;
    const variable = this.#header("SVC_ORGANIZATION");
    const organization = variable ?? this.#config.organization ?? session?.organization.id;
    if (organization === undefined) {
      const fix = "set SVC_ORGANIZATION to the organization's id";
      throw failure("ORGANIZATION_REQUIRED", "SVC_ACCESS_TOKEN is set, but SVC_ORGANIZATION is not", fix);
    }
    return {
      accessToken: session?.accessToken ?? accessToken ?? "",
      organization,
      ...(session && { session }),
      organizationFrom:
        variable !== undefined ? "variable" : this.#config.organization !== undefined ? "file" : "session",
    };
  }

  /** The session for the service. @throws {UserError} NOT_SIGNED_IN if there is none, or it has expired */
  #session(): Session {
    const base = this.apiUrl;
    const session = this.sessions.of(base);
    if (session === undefined) {
      const others = this.sessions.services();
      const where = others.length === 0 ? base : `${base}, only to ${others.join(", ")}`;
      const fix =
        "sign in: `svc auth login`; where that is not possible, as in CI, set SVC_ACCESS_TOKEN and SVC_ORGANIZATION";
      throw failure("NOT_SIGNED_IN", `you are not signed in to ${where}`, fix);
    }
    if (Date.parse(session.expiresAt) <= this.#io.now()) {
      const message = `your session at ${base} ended on ${localTime(session.expiresAt, this.#io.timeZone)}`;
      const fix = "sign in again: `svc auth login`";
      throw failure("NOT_SIGNED_IN", message, fix);
    }
    return session;
  }

  get apiKey(): string {
    const environment = this.environment;
    const name = `SVC_API_KEY_${environment.toUpperCase()}`;
    const source = this.#variable(name) === undefined ? "SVC_API_KEY" : name;
    const key = this.#header(source);
    if (key === undefined) {
      const fix = `set ${name} or SVC_API_KEY to a key of that environment`;
      throw failure("API_KEY_REQUIRED", `there is no ingestion key for ${environment}`, fix);
    }
    // The key alone selects the environment, so a wrong one would send the event to the wrong environment.
    const other = environment === "test" ? "live" : "test";
    if (key.startsWith(`svc_${other}_`)) {
      const fix =
        source === name
          ? `set ${name} to a key for ${environment}; one for ${other} belongs in SVC_API_KEY_${other.toUpperCase()}, and is used with --env ${other}`
          : `set ${name}, or add --env ${other}`;
      throw invalid(`${source} is a key for ${other}, but the environment is ${environment}`, fix);
    }
    return key;
  }

  /** An empty variable counts as absent, as it does for most programs. */
  #variable(name: string): string | undefined {
    const value = this.#io.env[name];
    return value === "" ? undefined : value;
  }

  /** A variable that is sent in a header. */
  #header(name: string): string | undefined {
    const value = this.#variable(name);
    if (value !== undefined && !isWord(value)) {
      const fix = "copy it again, as one word";
      throw invalid(`${name} contains a space, a line break or a character that no token has`, fix);
    }
    return value;
  }

  get #config(): ConfigFile {
    return (this.#file ??= readConfig(this.directory));
  }
}

function readConfig(directory: string): ConfigFile {
  const file = path.join(directory, CONFIG_FILE);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    throw invalidFile(`${file} cannot be read (${code})`, "make it a file that you may read", error);
  }
  let config: unknown;
  try {
    // Some editors of Windows put a byte order mark before the text.
    config = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalidFile(`${file} is not valid JSON`, "correct it, or restore it from version control", error);
  }
  return checkConfig(config, file);
}

function checkConfig(config: unknown, file: string): ConfigFile {
  if (!isObject(config)) throw invalidFile(`${file} does not contain a JSON object`, 'write { "project": "<slug>" }');
  const { project, defaultEnvironment, apiUrl, organization } = config;
  const rules: Record<keyof ConfigFile, [isKept: boolean, rule: string]> = {
    project: [typeof project === "string" && slugMistake(project) === undefined, "the slug of the project"],
    defaultEnvironment: [ENVIRONMENTS.includes(defaultEnvironment as Environment), '"test" or "live"'],
    apiUrl: [typeof apiUrl === "string", "the address of the service"],
    organization: [isWord(organization), "the id of the organization"],
  };
  for (const [name, [isKept, rule]] of Object.entries(rules)) {
    if (config[name] !== undefined && !isKept) throw invalidFile(`"${name}" of ${file} is wrong`, `make it ${rule}`);
  }
  return config;
}

function httpUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    const fix = `write one such as ${DEFAULT_API_URL}`;
    throw invalid(`${source} is not the address of a service: ${JSON.stringify(text)}`, fix);
  }
  return url.href.replace(/\/+$/, "");
}

function invalid(message: string, fix: string): UserError {
  return failure("INVALID_SETTING", message, fix);
}

function invalidFile(message: string, fix: string, cause?: unknown): UserError {
  return failure("CONFIG_FILE_INVALID", message, fix, cause);
}
