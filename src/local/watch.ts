import { watch, type FSWatcher } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

const SOURCE = /\.([cm]?[jt]sx?|json)$/;
/** Editors write a file in several steps, and more than one file at once. */
const QUIET_MS = 50;

/** Watches a folder, and those below it but for installed packages and hidden ones. */
export class SourceWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  #seen = new Map<string, string>();
  #quiet: NodeJS.Timeout | undefined;
  #closed = false;
  #failed = false;

  private constructor(
    private readonly directory: string,
    private readonly changed: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  /** Calls `changed` when sources were changed, once for changes that come together; `failed`, at most once, of a folder that cannot be watched. */
  static async start(directory: string, changed: () => void, failed: (error: Error) => void): Promise<SourceWatch> {
    const watching = new SourceWatch(directory, changed, failed);
    await watching.#look();
    return watching;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#quiet);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  /** Notes the state of all sources, watches folders that are new, and tells whether any source is not as it was. */
  async #look(): Promise<boolean> {
    const seen = new Map<string, string>();
    await this.#lookInto(this.directory, seen);
    const before = this.#seen;
    this.#seen = seen;
    return seen.size !== before.size || [...seen].some(([file, state]) => before.get(file) !== state);
  }

  async #lookInto(directory: string, seen: Map<string, string>): Promise<void> {
    // First, so that no change falls between the look and the watch.
    this.#watch(directory);
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const name = path.join(directory, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && !entry.name.startsWith(".")) await this.#lookInto(name, seen);
      } else if (SOURCE.test(entry.name)) {
        const state = await stat(name).catch(() => null);
        if (state !== null) seen.set(name, `${state.mtimeMs} ${state.size} ${state.ino}`);
      }
    }
  }

  #watch(directory: string): void {
    if (this.#closed || this.#watchers.has(directory)) return;
    try {
      const watcher = watch(directory, () => this.#somethingHappened());
      // A folder that is removed ends its watch; its parent tells.
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(directory);
      });
      this.#watchers.set(directory, watcher);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT" || this.#failed) return;
      this.#failed = true;
      this.failed(error as Error);
    }
  }

  #somethingHappened(): void {
    clearTimeout(this.#quiet);
    if (this.#closed) return;
    this.#quiet = setTimeout(() => {
      void this.#look().then((different) => {
        if (different && !this.#closed) this.changed();
      });
    }, QUIET_MS);
  }
}
