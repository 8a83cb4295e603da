import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { failure, UserError } from "../../core/errors.js";
import { makeDirectory } from "../../output/write-file.js";
import { printable } from "../../../words/text.js";

/** What a directory may hold and is empty all the same. */
const NOTHING = new Set([".git"]);
const STAGE = /^\.svc-init-(\d+)$/;
const NAMES_SHOWN = 3;
const CHOOSE = "choose an empty or a new directory by --directory";

/**
 * The directory of a new project. Files are staged in a hidden folder inside it, and come to their places all at once, by renames.
 * What a run that was killed left behind is in nobody's way. Everything happens at once, so that no signal comes in between.
 */
export class StarterFolder {
  readonly #directory: string;
  readonly #stage: string;
  /** The outermost directory that was made for it. */
  readonly #made: string | undefined;

  /** Takes a directory, which is made where there is none. @throws {UserError} DIRECTORY_NOT_EMPTY, FILE_NOT_WRITTEN */
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

  /** Makes sure that there is still nothing in it. @throws {UserError} DIRECTORY_NOT_EMPTY */
  refuseOccupied(): void {
    const names = readdirSync(this.#directory).filter((name) => !NOTHING.has(name));
    const other = names.map((name) => STAGE.exec(name)?.[1]).find((pid) => pid !== undefined && isOther(Number(pid)));
    if (other !== undefined) {
      const message = `another svc init is under way in ${this.#directory} (process ${other})`;
      throw notEmpty(message, "wait for its end, or choose another --directory");
    }
    const there = names.filter((name) => !STAGE.test(name)).sort();
    if (there.length === 0) return;
    const left = there.length - NAMES_SHOWN;
    const shown = [...there.slice(0, NAMES_SHOWN).map(printable), ...(left > 0 ? [`${left} more`] : [])];
    throw notEmpty(`${this.#directory} is not empty: it holds ${shown.join(", ")}`, CHOOSE);
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

  /** Puts what was staged in its place. */
  finish(): void {
    try {
      const names = readdirSync(this.#stage);
      // A rename would replace what came there meanwhile.
      const occupied = names.find((name) => existsSync(path.join(this.#directory, name)));
      if (occupied !== undefined) throw new Error(`${occupied} is there now`);
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

  /** Leaves the directory as it was. */
  abandon(): void {
    rmSync(this.#stage, { recursive: true, force: true });
    this.#removeDirectories();
  }

  /** Removes the directories that were made, as far as nobody else has put something there. */
  #removeDirectories(): void {
    if (this.#made === undefined) return;
    try {
      for (let next = this.#directory; next.startsWith(this.#made); next = path.dirname(next)) rmdirSync(next);
    } catch {
      // What is in use stays.
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
    if (code === "EEXIST" || code === "ENOTDIR") throw notEmpty(`${directory} is no directory`, CHOOSE);
    const what = `${directory} could not be written to (${code || message}); nothing was created`;
    throw failure("FILE_NOT_WRITTEN", what, "make room, or choose a --directory that you may write to", error);
  }
}

function notEmpty(message: string, fix: string): UserError {
  return failure("DIRECTORY_NOT_EMPTY", message, fix);
}
