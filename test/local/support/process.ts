import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { PROGRAM } from "../../cli/support/program.js";
import { project as written, writeInto } from "../../dsl-compiler/project.js";

const CONFIG = `import { defineModel } from "svc-success";
import { projectCreated, signedUp } from "./model/events.js";
import { onboarding } from "./model/journeys.js";
import { stages } from "./model/stages.js";

export default defineModel({
  strictSchema: true,
  events: [projectCreated, signedUp],
  lifecycle: stages,
  journeys: [onboarding],
});
`;

export const STAGES = `import { lifecycle } from "svc-success";
import { projectCreated, signedUp } from "./events.js";

export const stages = lifecycle({
  initial: "new",
  states: {
    new: { to: { trial: signedUp.happened() } },
    trial: { to: { activated: projectCreated.count().atLeast(2) } },
    activated: {},
  },
});
`;

export const EVENTS = `import { event, number } from "svc-success";

export const signedUp = event("signed_up");
export const projectCreated = event("project_created", { seats: number() });
`;

const PROJECT = {
  "svc.config.ts": CONFIG,
  "model/events.ts": EVENTS,
  "model/journeys.ts": `import { journey, step } from "svc-success";
import { projectCreated, signedUp } from "./events.js";

export const onboarding = journey("onboarding", {
  start: signedUp.happened(),
  steps: [step("create", projectCreated.happened())],
  expiresAfter: "30d",
});
`,
  "model/stages.ts": STAGES,
};

export interface Project {
  directory: string;
  write: (file: string, content: string) => Promise<void>;
}

/** An author's directory, removed after the test. `files` override the default ones. */
export async function project(files: Record<string, string> = {}): Promise<Project> {
  const directory = await written({ ...PROJECT, ...files });
  return { directory, write: (file, content) => writeInto(directory, file, content) };
}

export interface Dev {
  /** The next line of this type that `--json` prints; skips other lines. */
  next(type: string): Promise<any>; // oxlint-disable-line typescript/no-explicit-any -- what a test reads is what it checks
  /** Stops it, and returns its exit code. */
  stop(signal?: "SIGINT" | "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

/** `svc dev` on a free port, with the lines that it prints; it stops with the test. */
export function spawnDev(directory: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [PROGRAM, "dev", "--port", "0", ...args], {
    cwd: directory,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return { child, exited, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
}

/** `svc dev --json`. */
export function startDev(directory: string, args: string[] = []): Dev {
  const { child, exited, lines } = spawnDev(directory, ["--json", ...args]);
  return {
    async next(type) {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`svc dev ended before it said ${type}`);
        const document = JSON.parse(value) as { type: string };
        if (document.type === type) return document;
      }
    },
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}
