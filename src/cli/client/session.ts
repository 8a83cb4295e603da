import { chmodSync, readFileSync, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";

import { failure, type UserError } from "../core/errors.js";
import { makeDirectory, writeBeside } from "../output/write-file.js";
import { isObject, isWord, jsonOf, shellWord } from "../../words/text.js";

/** The result of `svc auth login`: a token with its user's permissions. */
export interface Session {
  accessToken: string;
  /** The instant when the token expires. */
  expiresAt: string;
  /** The one that was chosen at sign-in. */
  organization: { id: string; slug: string };
  email: string;
}

type Entries = Readonly<Record<string, unknown>>;

const SIGN_IN = "`svc auth login`";
const WRITES_ANEW = `sign in again: ${SIGN_IN} rewrites it`;

/**
 * This user's sessions on this machine, one per service, in a file that only the user can read, outside of projects so that no token gets
 * into version control.
 */
export class SessionStore {
  readonly #directory: string | null;

  /** @param directory the user's configuration directory; null if there is no home directory. */
  constructor(directory: string | null) {
    this.#directory = directory;
  }

  get file(): string {
    return path.join(this.#home, "session.json");
  }

  /** The addresses of the services that have a session. @throws {UserError} SESSION_FILE_INVALID */
  services(): string[] {
    const sessions = Object.entries(this.#entries()).filter(([, entry]) => isSession(entry));
    return sessions.map(([apiUrl]) => apiUrl);
  }

  /** The session for a service; undefined if there is none. @throws {UserError} SESSION_FILE_INVALID */
  of(apiUrl: string): Session | undefined {
    const entry = this.#entries()[apiUrl];
    if (entry === undefined || isSession(entry)) return entry;
    throw invalid(`the session for ${apiUrl} in ${this.file} is not as svc wrote it`, WRITES_ANEW);
  }

  /** The session that signing in would replace; undefined also if the file is invalid. Others being able to read the file is no failure here. */
  replaceable(apiUrl: string): Session | undefined {
    const entry = this.#replaceableEntries()[apiUrl];
    return isSession(entry) ? entry : undefined;
  }

  /** Checks that a session can be saved, before the user is asked to approve one. @throws {UserError} SESSION_NOT_SAVED */
  async prepare(): Promise<void> {
    await this.#write("", (partial) => rm(partial));
  }

  /** Saves a session, replacing any previous one for this service. */
  async save(apiUrl: string, session: Session): Promise<void> {
    await this.#store({ ...this.#replaceableEntries(), [apiUrl]: session });
  }

  async remove(apiUrl: string): Promise<void> {
    await this.#store({ ...this.#replaceableEntries(), [apiUrl]: undefined });
  }

  /** The file's entry for each service, valid session or not: entries written by another version must not be dropped. */
  #entries(): Entries {
    // Without a home directory there is no session either; only writing one fails.
    if (this.#directory === null) return {};
    const text = this.#read();
    if (text === undefined) return {};
    if (isOpenToOthers(this.file)) {
      const fix = `run \`chmod 600 ${shellWord(this.file)}\`; if others use this machine, get a new token: ${SIGN_IN}`;
      throw invalid(`${this.file} can be read by others, and contains a token`, fix);
    }
    const entries = parse(text);
    if (entries === undefined) throw invalid(`${this.file} is not as svc wrote it`, WRITES_ANEW);
    return entries;
  }

  #replaceableEntries(): Entries {
    if (this.#directory === null) return {};
    return parse(this.#read() ?? "") ?? {};
  }

  /**
   * Writes entries that were read just before. No lock: two sign-ins within milliseconds are rarer than a killed one, whose lock would
   * block all later ones.
   */
  async #store(sessions: Entries): Promise<void> {
    // Renamed, so that concurrent readers find a complete file, the old one or the new one.
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

  /** Writes a temporary file beside the session file, and passes its name to `place`. */
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

/** Windows does not use these mode bits. */
function isOpenToOthers(file: string): boolean {
  return process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0;
}

/** The entries in a file's text; undefined if it is not a session file. */
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
