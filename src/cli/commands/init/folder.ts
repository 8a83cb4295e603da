import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { failure, UserError } from "../../core/errors.js";
import { makeDirectory } from "../../output/write-file.js";
import { printable } from "../../../words/text.js";

/** Names that do not count: a directory with only these is empty. */
const NOTHING = new Set([".git"]);
const STAGE = /^\.svc-init-(\d+)$/;
const NAMES_SHOWN = 3;
const CHOOSE = "choose an empty or a new directory with --directory";

/**
 * The directory of a new project. Files are staged in a hidden folder inside it, and then moved to their places by renames. Leftovers of a
 * killed run are removed. All file operations are synchronous, so that no signal is handled in between.
 */
export class StarterFolder {
  readonly #directory: string;
  readonly #stage: string;
  /** The outermost directory that was created for it. */
  readonly #made: string | undefined;

  /** Takes over a directory, creating it if needed. @throws {UserError} DIRECTORY_NOT_EMPTY, FILE_NOT_WRITTEN */
  constructor(directory: string) {
    this.#directory = directory;
    this.#stage = path.join(directory, `.svc-init-${process.pid}`);
    this.#made = attempt(directory, () => makeDirectory(directory));
    try {
      attempt(directory, () => this.#begin());
    } catch (error) {
      this.#removeDirectories();
      throw error;
    }
  }

  #begin(): void {
    this.refuseOccupied();
    for (const name of readdirSync(this.#directory)) {
      if (STAGE.test(name)) rmSync(path.join(this.#directory, name), { recursive: true, force: true });
    }
    mkdirSync(this.#stage);
  }

  /** Checks that the directory is still empty. @throws {UserError} DIRECTORY_NOT_EMPTY */
  refuseOccupied(): void {
    const names = readdirSync(this.#directory).filter((name) => !NOTHING.has(name));
    const other = names.map((name) => STAGE.exec(name)?.[1]).find((pid) => pid !== undefined && isOther(Number(pid)));
    if (other !== undefined) {
      const message = `another svc init is running in ${this.#directory} (process ${other})`;
      throw notEmpty(message, "wait until it ends, or choose another --directory");
    }
    const occupants = names.filter((name) => !STAGE.test(name)).sort();
    if (occupants.length === 0) return;
    const hidden = occupants.length - NAMES_SHOWN;
    const shown = [...occupants.slice(0, NAMES_SHOWN).map(printable), ...(hidden > 0 ? [`${hidden} more`] : [])];
    throw notEmpty(`${this.#directory} is not empty: it contains ${shown.join(", ")}`, CHOOSE);
  }

  stage(files: ReadonlyMap<string, string>): void {
    attempt(this.#directory, () => {
      for (const [name, text] of files) {
        const file = path.join(this.#stage, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    });
  }

  /** Moves the staged files to their places. */
  finish(): void {
    try {
      const names = readdirSync(this.#stage);
      // A rename would replace a file that was created meanwhile.
      const occupied = names.find((name) => existsSync(path.join(this.#directory, name)));
      if (occupied !== undefined) throw new Error(`${occupied} exists now`);
      for (const name of names) {
        renameSync(path.join(this.#stage, name), path.join(this.#directory, name));
      }
      rmdirSync(this.#stage);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const what = `the project was created, but its files could not be put in their places (${code ?? message})`;
      throw failure("FILE_NOT_WRITTEN", what, `move them from ${this.#stage} to ${this.#directory} yourself`, error);
    }
  }

  /** Restores the directory to its previous state. */
  abandon(): void {
    rmSync(this.#stage, { recursive: true, force: true });
    this.#removeDirectories();
  }

  /** Removes the directories that were created, unless something else is in them now. */
  #removeDirectories(): void {
    if (this.#made === undefined) return;
    try {
      for (let next = this.#directory; next.startsWith(this.#made); next = path.dirname(next)) rmdirSync(next);
    } catch {
      // A directory in use stays.
    }
  }
}

function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function attempt<T>(directory: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOTDIR") throw notEmpty(`${directory} is not a directory`, CHOOSE);
    const what = `${directory} could not be written to (${code || message}); nothing was created`;
    throw failure("FILE_NOT_WRITTEN", what, "make room, or choose a --directory that you may write to", error);
  }
}

function notEmpty(message: string, fix: string): UserError {
  return failure("DIRECTORY_NOT_EMPTY", message, fix);
}
