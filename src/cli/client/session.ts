import { chmodSync, readFileSync, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";

import { failure, type UserError } from "../core/errors.js";
import { makeDirectory, writeBeside } from "../output/write-file.js";
import { isObject, isWord, jsonOf, shellWord } from "../../words/text.js";

/** What `svc auth login` got: a token that may do what its user may do. */
export interface Session {
  accessToken: string;
  /** An instant; the service ends the token then. */
  expiresAt: string;
  /** The one that was chosen at the sign-in. */
  organization: { id: string; slug: string };
  email: string;
}

type Entries = Readonly<Record<string, unknown>>;

const SIGN_IN = "`svc auth login`";
const WRITES_ANEW = `sign in again: ${SIGN_IN} writes it anew`;

/** The sessions of this user on this machine, one for each service, in a file that nobody else may read. It lies outside of projects, so that no token gets into version control. */
export class SessionStore {
  readonly #directory: string | null;

  /** @param directory where the user's configuration is; null where the machine knows no home. */
  constructor(directory: string | null) {
    this.#directory = directory;
  }

  get file(): string {
    return path.join(this.#home, "session.json");
  }

  /** The addresses of the services with a session. @throws {UserError} SESSION_FILE_INVALID */
  services(): string[] {
    const sessions = Object.entries(this.#entries()).filter(([, entry]) => isSession(entry));
    return sessions.map(([apiUrl]) => apiUrl);
  }

  /** The session for a service; undefined where there is none. @throws {UserError} SESSION_FILE_INVALID */
  of(apiUrl: string): Session | undefined {
    const entry = this.#entries()[apiUrl];
    if (entry === undefined || isSession(entry)) return entry;
    throw invalid(`the session for ${apiUrl} in ${this.file} is not as svc wrote it`, WRITES_ANEW);
  }

  /** The same; undefined also where the file is to be replaced for what it holds or for who may read it. */
  replaceable(apiUrl: string): Session | undefined {
    const entry = this.#replaceableEntries()[apiUrl];
    return isSession(entry) ? entry : undefined;
  }

  /** Finds out whether a session can be kept, before somebody is asked to approve one. @throws {UserError} SESSION_NOT_SAVED */
  async prepare(): Promise<void> {
    await this.#write("", (partial) => rm(partial));
  }

  /** Keeps a session, in the place of the one that there was for this service. */
  async save(apiUrl: string, session: Session): Promise<void> {
    await this.#store({ ...this.#replaceableEntries(), [apiUrl]: session });
  }

  async remove(apiUrl: string): Promise<void> {
    await this.#store({ ...this.#replaceableEntries(), [apiUrl]: undefined });
  }

  /** What the file holds for each service, be it a session or not: what another version wrote there is none of ours to drop. */
  #entries(): Entries {
    // Where there is no home there is no session either; who wants to write one is told.
    if (this.#directory === null) return {};
    const text = this.#read();
    if (text === undefined) return {};
    if (isOpenToOthers(this.file)) {
      const fix = `run \`chmod 600 ${shellWord(this.file)}\`; if others use this machine, make a new token by ${SIGN_IN}`;
      throw invalid(`${this.file} can be read by others, and holds a token`, fix);
    }
    const entries = parse(text);
    if (entries === undefined) throw invalid(`${this.file} is not as svc wrote it`, WRITES_ANEW);
    return entries;
  }

  #replaceableEntries(): Entries {
    if (this.#directory === null) return {};
    return parse(this.#read() ?? "") ?? {};
  }

  /** Entries that were read right before. No lock: two sign-ins within milliseconds are rarer than one that is killed, whose lock would bar all after it. */
  async #store(sessions: Entries): Promise<void> {
    // Renamed: whoever reads meanwhile finds the whole file, the one before or this one.
    await this.#write(`${JSON.stringify({ sessions }, null, 2)}\n`, (partial) => rename(partial, this.file));
  }

  get #home(): string {
    if (this.#directory !== null) return this.#directory;
    const fix = "set HOME to an absolute path, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION instead of signing in";
    throw failure("SESSION_NOT_SAVED", "there is no home directory to keep a session in", fix);
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.file, "utf8");
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      const fix = `make it a file that you may read, or remove it and sign in again: ${SIGN_IN}`;
      throw invalid(`${this.file} cannot be read (${code})`, fix, error);
    }
  }

  /** Writes a file of another name beside it, and hands that on. */
  async #write(text: string, place: (partial: string) => Promise<void>): Promise<void> {
    const directory = this.#home;
    try {
      makeDirectory(directory, 0o700);
      if (isOpenToOthers(directory)) chmodSync(directory, 0o700);
      await writeBeside(this.file, [text], 0o600, place);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      const isFull = code === "ENOSPC" || code === "EDQUOT";
      const first = isFull ? "make room there" : "make it a directory that you may write to";
      const fix = `${first}, set XDG_CONFIG_HOME to another, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION`;
      throw failure("SESSION_NOT_SAVED", `a session cannot be kept in ${directory} (${code})`, fix, error);
    }
  }
}

/** Windows has other means than these bits. */
function isOpenToOthers(file: string): boolean {
  return process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;
}

/** What a file holds for each service; undefined where it is no file of ours. */
function parse(text: string): Entries | undefined {
  const document = jsonOf(text);
  const sessions = isObject(document) ? document["sessions"] : undefined;
  return isObject(sessions) ? sessions : undefined;
}

function isSession(value: unknown): value is Session {
  if (!isObject(value) || !isObject(value["organization"])) return false;
  const { accessToken, expiresAt, organization, email } = value;
  return (
    [accessToken, organization["id"]].every(isWord) &&
    [organization["slug"], email, expiresAt].every((text) => typeof text === "string") &&
    !Number.isNaN(Date.parse(expiresAt as string))
  );
}

function invalid(message: string, fix: string, cause?: unknown): UserError {
  return failure("SESSION_FILE_INVALID", message, fix, cause);
}
