import { watch, type FSWatcher } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

const SOURCE = /\.([cm]?[jt]sx?|json)$/;
/** How long to wait after a change for further ones: editors write a file in several steps, and several files at once. */
const QUIET_MS = 50;

/** Watches a folder and its subfolders, except for installed packages and hidden folders. */
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

  /** Calls `changed` when sources have changed, once for changes that come together, and `failed`, at most once, if a folder cannot be watched. */
  static async start(directory: string, changed: () => void, failed: (error: Error) => void): Promise<SourceWatch> {
    const watching = new SourceWatch(directory, changed, failed);
    await watching.#scan();
    return watching;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#quiet);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  /** Records the state of all sources, starts to watch new folders, and returns whether any source has changed. */
  async #scan(): Promise<boolean> {
    const seen = new Map<string, string>();
    await this.#scanFolder(this.directory, seen);
    const before = this.#seen;
    this.#seen = seen;
    return seen.size !== before.size || [...seen].some(([file, state]) => before.get(file) !== state);
  }

  async #scanFolder(directory: string, seen: Map<string, string>): Promise<void> {
    // Watch first, so that no change is missed between the scan and the watch.
    this.#watch(directory);
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const name = path.join(directory, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && !entry.name.startsWith(".")) await this.#scanFolder(name, seen);
      } else if (SOURCE.test(entry.name)) {
        const state = await stat(name).catch(() => null);
        if (state !== null) seen.set(name, `${state.mtimeMs} ${state.size} ${state.ino}`);
      }
    }
  }

  #watch(directory: string): void {
    if (this.#closed || this.#watchers.has(directory)) return;
    try {
      const watcher = watch(directory, () => this.#scheduleScan());
      // The watch of a removed folder ends with an error; its parent reports the change.
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

  #scheduleScan(): void {
    clearTimeout(this.#quiet);
    if (this.#closed) return;
    this.#quiet = setTimeout(() => {
      void this.#scan().then((different) => {
        if (different && !this.#closed) this.changed();
      });
    }, QUIET_MS);
  }
}
