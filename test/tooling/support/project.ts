import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** A small project in a temporary directory, on which checks of this repository run. */
export class FixtureProject {
  private constructor(readonly root: string) {}

  /** `files` maps paths to texts. */
  static async create(files: Record<string, string>): Promise<FixtureProject> {
    const root = await mkdtemp(path.join(os.tmpdir(), "svc-tooling-"));
    const project = new FixtureProject(root);
    for (const [name, text] of Object.entries(files)) await project.write(name, text);
    return project;
  }

  async write(name: string, text: string): Promise<void> {
    const file = path.join(this.root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Copies a file or folder of the repository to the same path. */
  async take(name: string): Promise<void> {
    await cp(path.join(repository, name), path.join(this.root, name), { recursive: true });
  }

  /** Runs a program in the project's root until it ends, without standard input. */
  run(program: string, args: string[], environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const env = { ...process.env, ...environment };
      const child = execFile(program, args, { cwd: this.root, env }, (error, stdout, stderr) => {
        if (error && typeof error.code !== "number") reject(new Error(`${program} did not run: ${error.message}`));
        else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
