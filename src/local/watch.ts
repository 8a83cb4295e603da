import { type FSWatcher, statSync, type Stats, watch } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";

const SOURCE = /\.([cm]?[jt]sx?|json)$/;
/** How long to wait after a change for further ones: editors write a file in several steps, and several files at once. */
const QUIET_MS = 50;
/** How long at most, since a file that is written all the time, such as a log, leaves no such pause. */
const QUIET_MS_MAX = 1_000;

/**
 * Watches a folder, its subfolders and what links in them lead to, except for installed packages and hidden folders; and single files
 * elsewhere, such as those of another package of a workspace.
 */
export class SourceWatch {
  #watchers = new Map<string, FSWatcher>();
  #seen = new Map<string, string>();
  /** The files elsewhere. */
  #included = new Set<string>();
  #quiet: NodeJS.Timeout | undefined;
  /** When the first change came that no scan has followed yet. */
  #unscannedSince: number | undefined;
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

  /** Watches a file that is not in the folder as well. Called before the file is read, so that no change after that is missed. */
  include(file: string): void {
    if (this.#seen.has(file) || this.#included.has(file)) return;
    this.#included.add(file);
    this.#watch(path.dirname(file));
    const state = statSync(file, { throwIfNoEntry: false });
    if (state) this.#seen.set(file, versionOf(state));
  }

  /** Watches for a file that is not there; it is a change once it is, also if it has come meanwhile. */
  expect(file: string): void {
    if (this.#seen.has(file) || this.#included.has(file)) return;
    this.#included.add(file);
    this.#scheduleScan();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#quiet);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  /** Records the state of all sources, watches all folders anew, and returns whether any source has changed. */
  async #scan(): Promise<boolean> {
    const seen = new Map<string, string>();
    // A folder may have been removed and made again: its watch has ended, and Linux does not report that.
    const former = this.#watchers;
    this.#watchers = new Map();
    this.#watchNearest(this.directory);
    await this.#scanFolder(this.directory, seen, []);
    for (const file of this.#included) {
      this.#watchNearest(path.dirname(file));
      const state = await stat(file).catch(() => null);
      if (state?.isFile() === true) seen.set(file, versionOf(state));
    }
    for (const watcher of former.values()) watcher.close();
    const before = this.#seen;
    this.#seen = seen;
    return seen.size !== before.size || [...seen].some(([file, state]) => before.get(file) !== state);
  }

  /** @param above the real paths of the folders that it is in: a link may lead to one of them */
  async #scanFolder(directory: string, seen: Map<string, string>, above: readonly string[]): Promise<void> {
    const own = await realpath(directory).catch(() => null);
    if (own === null || above.includes(own)) return;
    // Watch first, so that no change is missed between the scan and the watch.
    this.#watch(directory);
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const name = path.join(directory, entry.name);
      const isLink = entry.isSymbolicLink();
      const isSource = SOURCE.test(entry.name);
      const state = isLink || isSource ? await stat(name).catch(() => null) : null;
      if (entry.isDirectory() || state?.isDirectory() === true) {
        if (entry.name !== "node_modules" && !entry.name.startsWith("."))
          await this.#scanFolder(name, seen, [...above, own]);
      } else if (isSource && state !== null) {
        seen.set(name, versionOf(state));
        if (isLink) this.#watch(path.dirname(await realpath(name).catch(() => name)));
      }
    }
  }

  /** Watches a folder or, while it is gone, as another branch may lack it, the nearest one above it, which reports its return. */
  #watchNearest(directory: string): void {
    this.#watch(directory);
    const above = path.dirname(directory);
    if (this.#watchers.has(directory) || above === directory) return;
    this.#watchNearest(above);
    // It may have returned before the one above was watched.
    this.#watch(directory);
  }

  #watch(directory: string): void {
    const watchers = this.#watchers;
    if (this.#closed || watchers.has(directory)) return;
    try {
      const watcher = watch(directory, () => this.#scheduleScan());
      // The watch of a removed folder ends with an error; its parent reports the change.
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(directory);
      });
      watchers.set(directory, watcher);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT" || this.#failed) return;
      this.#failed = true;
      this.failed(error as Error);
    }
  }

  #scheduleScan(): void {
    clearTimeout(this.#quiet);
    if (this.#closed) return;
    const now = performance.now();
    this.#unscannedSince ??= now;
    const longest = Math.max(0, this.#unscannedSince + QUIET_MS_MAX - now);
    this.#quiet = setTimeout(
      () => {
        this.#unscannedSince = undefined;
        void this.#scan().then((different) => {
          if (different && !this.#closed) this.changed();
        });
      },
      Math.min(QUIET_MS, longest),
    );
  }
}

/** What changes when a file is written or replaced. */
function versionOf({ mtimeMs, size, ino }: Stats): string {
  return `${mtimeMs} ${size} ${ino}`;
}
